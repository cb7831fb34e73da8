"""NEOKMeans in the place of BERTopic's cluster model: what BERTopic calls, and what it expects.

BERTopic clusters embeddings of documents with whatever has `fit` and `labels_`, asks `predict` for
new documents, and takes -1 for documents without a topic.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from neocc import NEOKMeans

pandas = pytest.importorskip("pandas")

TOPICS, SIZES = 4, (40, 25, 15, 10)


class Topics:
    """The calls of BERTopic(hdbscan_model=...) to its cluster model, in their order."""

    def __init__(self, hdbscan_model):
        self.hdbscan_model = hdbscan_model

    def fit(self, documents, embeddings, y=None):
        documents = pandas.DataFrame({"Document": documents, "ID": range(len(documents))})
        try:
            self.hdbscan_model.fit(embeddings, y=y)
        except TypeError:
            self.hdbscan_model.fit(embeddings)
        documents["Topic"] = self.hdbscan_model.labels_
        self.topics_ = documents.Topic.astype(int).tolist()
        self.topic_sizes_ = documents.groupby("Topic").count().Document.to_dict()
        self.outliers = 1 if -1 in self.topics_ else 0
        return self

    def transform(self, embeddings):
        return self.hdbscan_model.predict(embeddings).tolist()


def embeddings(seed=0):
    """Documents about four things, float32 as sentence transformers give them, and some noise."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(TOPICS, 5)) * 8
    labels = np.repeat(np.arange(TOPICS), SIZES)
    noise = 40 * rng.normal(size=(5, 5))
    found = np.vstack([centres[labels] + rng.normal(size=(len(labels), 5)), noise])
    return found.astype(np.float32), np.append(labels, [-1] * 5)


@pytest.mark.parametrize("overlap", [-5 / 95, 0.0, 0.1])
def test_documents_get_one_topic_or_none(overlap):
    X, true = embeddings()
    cluster_model = NEOKMeans(TOPICS, overlap=overlap, outliers=5 / 95, random_state=0)
    topics = Topics(clone(cluster_model)).fit([f"text {i}" for i in range(95)], X)
    labels, fitted = np.array(topics.topics_), topics.hdbscan_model
    assert isinstance(fitted.labels_, np.ndarray)
    assert fitted.labels_.dtype.kind == "i"
    assert set(topics.topics_) == {-1, *range(TOPICS)}
    assert topics.outliers == 1
    np.testing.assert_array_equal(labels == -1, fitted.outliers_)
    inside = np.flatnonzero(labels >= 0)
    assert fitted.membership_[inside, labels[inside]].all()
    nearest = np.where(fitted.membership_, fitted.transform(X), np.inf).argmin(axis=1)
    np.testing.assert_array_equal(labels[inside], nearest[inside])
    if overlap < 0:
        for topic in range(TOPICS):
            assert len(set(true[labels == topic])) == 1
    again = topics.transform(X)
    assert (np.array(again) == labels).mean() > 0.97
    assert topics.transform(X[:1] + 500) == [-1]


def test_without_outliers_every_document_has_a_topic():
    X, _ = embeddings()
    topics = Topics(NEOKMeans(TOPICS, random_state=0)).fit(["text"] * 95, X)
    assert topics.outliers == 0
    assert topics.transform(X) == topics.topics_
    assert sum(topics.topic_sizes_.values()) == 95

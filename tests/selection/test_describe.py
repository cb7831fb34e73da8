"""What data look like: kinds on data that are of them, and numbers against slow formulas."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from neocc.io import open_store, write_store
from neocc.selection import describe_data
from neocc.selection._kinds import KINDS


def drawn(kind, seed=0, shape=(120, 60)):  # noqa: PLR0911
    """Make data of a kind."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=shape)
    if kind == "binary":
        return (normal > 0.5).astype(float)
    if kind == "ratings":
        return np.clip(np.rint(3.5 + normal), 1, 5) * (rng.random(shape) < 0.3)
    if kind == "proportions":
        return rng.dirichlet(np.ones(shape[1]), size=shape[0])
    if kind == "counts":
        return rng.poisson(0.3, size=shape).astype(float)
    if kind == "ratios":
        return normal
    if kind == "intensities":
        return np.exp2(8 + 2.5 * normal)
    if kind == "units":
        return (normal * 10.0 ** rng.uniform(-2, 4, shape[1]) + 50)[:, :12]
    return 20 + normal + rng.normal(size=shape[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_kind_is_told_by_its_data(kind, seed):
    found = describe_data(drawn(kind, seed))
    assert found.kind == kind
    assert found.evidence
    text = str(found)
    assert KINDS[kind].noun in text
    assert found.evidence in text
    assert found.implies in text
    assert json.loads(json.dumps(found.to_dict()))["kind"] == kind


def test_cells_that_are_not_stored_are_missing_where_only_observed_ones_count():
    """Ratings of which the lowest is the commonest: as zeros they would be counts."""
    rng = np.random.default_rng(0)
    stars = 1.0 + rng.integers(5, size=(40, 30)) * rng.integers(2, size=(40, 30))
    X = sparse.csr_array(stars * (rng.random(stars.shape) < 0.6))
    assert describe_data(X).kind == "counts"
    found = describe_data(X, missing="ignore")
    assert found.kind == "ratings"
    assert found.facts.missing == pytest.approx(1 - X.nnz / stars.size)
    assert "of the cells are missing" in str(found)
    # A zero that is stored is an observed one.
    zeros = X.copy()
    zeros.data[:5] = 0.0
    assert describe_data(zeros, missing="ignore").facts.low == 0.0
    assert found.facts.low == 1.0
    with pytest.raises(ValueError, match="missing must be one of"):
        describe_data(X, missing="none")


@pytest.mark.parametrize("kind", ["binary", "ratings", "counts", "intensities", "plain"])
def test_a_scale_and_an_order_change_no_kind(kind):
    X = drawn(kind)
    rng = np.random.default_rng(1)
    mixed = X[rng.permutation(len(X))][:, rng.permutation(X.shape[1])]
    assert describe_data(mixed).kind == kind
    if kind not in ("ratings", "counts"):  # levels and whole numbers are of one scale
        assert describe_data(X * 1000).kind == kind


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.coo_array, pd.DataFrame, np.ndarray.tolist]
)
def test_the_form_of_the_data_makes_no_difference(form):
    X = drawn("counts")
    dense, other = describe_data(X), describe_data(form(X))
    told, found = dense.to_dict(), other.to_dict()
    assert found.pop("is_sparse") == (form in (sparse.csr_array, sparse.coo_array))
    told.pop("is_sparse")
    for name, value in told.items():
        close = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        assert found[name] == close, name


def test_a_store_is_looked_at_by_sample(tmp_path):
    X = drawn("intensities", shape=(400, 60))
    write_store(tmp_path / "x.blocks", X, rows_per_block=50)
    store = open_store(tmp_path / "x.blocks")
    assert describe_data(store).facts == describe_data(X).facts
    some = describe_data(store, max_cells=6000)
    assert some.facts.n_rows_seen == 100
    assert some.facts.shape == (400, 60)
    assert some.kind == "intensities"
    assert "sample of 100 rows" in str(some)
    assert some.facts == describe_data(store, max_cells=6000).facts
    assert some.facts == describe_data(X, max_cells=6000).facts


def test_numbers_are_those_of_the_formulas():
    X = drawn("intensities")
    X[3], X[:, 5], X[7] = 0.0, 0.0, X[8]
    facts = describe_data(X).facts
    values = X[X != 0]
    assert facts.fill == values.size / X.size
    assert (facts.low, facts.high, facts.smallest) == (0.0, values.max(), values.min())
    assert facts.skew == pytest.approx(stats.skew(values), abs=1e-3)
    assert facts.log_skew == pytest.approx(stats.skew(np.log(values)), abs=1e-3)
    low, high = np.quantile(values, [0.01, 0.99])
    assert facts.decades == pytest.approx(np.log10(high) - np.log10(low))
    spreads = [column.std() for column in X.T if column.any()]
    low, high = np.quantile(spreads, [0.05, 0.95])
    assert facts.column_scales == pytest.approx(high / low)
    assert facts.centre == pytest.approx(X.mean() / X.std())
    means = X.mean(axis=0)
    assert facts.column_levels == pytest.approx(means.std() / np.median(spreads))
    assert facts.row_total == pytest.approx(np.median(X.sum(axis=1)))
    assert facts.negative == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_lines_that_stand_out_are_counted(form):
    X = drawn("plain", shape=(40, 9))
    X[3] = X[4] = 0.0
    X[:, 2] = 0.0
    X[10] = X[11] = X[12]
    X[:, 6] = 7.0
    X[3, 6] = X[4, 6] = 7.0
    found = describe_data(form(X))
    facts = found.facts
    assert (facts.empty_rows, facts.empty_columns) == (0, 1)
    assert (facts.constant_rows, facts.constant_columns) == (0, 1)
    assert (facts.duplicate_rows, facts.duplicate_columns) == (3, 0)
    assert "Rows: 3 that repeat an earlier one." in str(found)
    assert "Rows: 1 that repeats an earlier one." in str(describe_data(form(X[[0, 1, 1, 5, 6]])))
    assert "Columns: 1 without any value and 1 with the same value throughout." in str(found)


def test_infinite_values_are_called_that():
    X = drawn("plain")
    X[3, 4] = np.inf
    assert "Some values are infinite" in str(describe_data(X))
    assert "rescale" not in str(describe_data(X))


def test_no_column_decides_where_scales_are_alike():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, (90, 3)), rng.normal(2, 1, (90, 3))])
    found = describe_data(X)
    assert (found.kind, found.facts.column_scales < 3) == ("units", True)
    assert "cannot be compared with those of another" in str(found)
    assert "alone would decide" in str(describe_data(X * [1, 1, 1, 1, 1, 20]))


def survey(ends, n=150, seed=0):
    """Answers on scales from 0 or 1, that of each item with an end of its own."""
    rng = np.random.default_rng(seed)
    first = rng.integers(2, size=len(ends))
    return np.clip(np.rint(rng.normal(0.6, 0.3, (n, len(ends))) * ends), first, ends)


@pytest.mark.parametrize("seed", range(3))
def test_one_column_of_another_unit_is_seen_among_many(seed):
    """Quantiles of scales pass over the age of those who were asked, which would decide alone."""
    rng = np.random.default_rng(seed)
    answers = survey(np.full(27, 6), seed=seed)
    found = describe_data(np.column_stack([answers, np.rint(rng.normal(35, 11, 150))]))
    assert (found.kind, found.facts.heavy_columns) == ("units", 1)
    share = 11**2 / (11**2 + answers.var(axis=0).sum())
    assert found.facts.heavy_share == pytest.approx(share, abs=0.1)
    assert "1 of the 28 columns has " in found.evidence
    # So it is said beside an answer of yes and no, too.
    both = np.column_stack([answers, np.rint(rng.normal(35, 11, 150)), np.arange(150) % 2])
    assert "1 of the 29 columns has " in describe_data(both).evidence
    # Eight of them are no exception, and of counts some are larger than others.
    assert describe_data(answers).facts.heavy_columns == 0
    several = np.column_stack([answers, np.rint(rng.normal(35, 11, (150, 8)))])
    assert describe_data(several).facts.heavy_columns == 0
    counts = rng.poisson(np.ones((150, 28))).astype(float)
    counts[:, 3] = rng.poisson(rng.gamma(3, 8, 150))
    found = describe_data(counts)
    assert (found.kind, found.facts.heavy_columns) == ("counts", 1)


@pytest.mark.parametrize("seed", range(3))
def test_answers_on_scales_of_different_lengths_are_no_counts(seed):
    ends = np.random.default_rng(seed).choice([2, 3, 5, 7, 9], 14)
    X = survey(ends, seed=seed)
    found = describe_data(X)
    assert found.kind == "units"
    assert found.facts.answer_scales == (3.0, 9.0)
    assert "scales end at 3 to 9" in found.evidence
    gaps = np.where(np.random.default_rng(seed).random(X.shape) < 0.1, np.nan, X)
    assert describe_data(gaps).facts.answer_scales == (3.0, 9.0)
    # One scale for all items is a scale; of few people, chance says where a scale ends.
    same = describe_data(survey(np.full(14, 5), seed=seed))
    assert same.facts.answer_scales == (5.0, 5.0)
    assert same.kind != "units"
    assert describe_data(X[:40]).facts.answer_scales == ()


@pytest.mark.parametrize("mean", [0.3, 1.0, 4.0])
def test_counts_are_no_answers(mean):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        means = mean * rng.lognormal(0, 0.8, 15)
        for X in (
            rng.poisson(means, (90, 15)),
            rng.negative_binomial(2, 2 / (2 + means), (90, 15)),
        ):
            assert describe_data(X.astype(float)).facts.answer_scales == ()


def test_missing_cells_are_no_zeros():
    X = drawn("ratings")
    X[X == 0] = np.nan
    found = describe_data(X)
    assert found.kind == "ratings"
    assert found.facts.missing == np.isnan(X).mean()
    assert found.facts.low == 1
    assert "of the cells are missing" in str(found)


def test_lines_of_one_cell_are_not_called_constant():
    column = describe_data(np.arange(1.0, 7.0)[:, None])
    assert "throughout" not in str(column)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("customer_id", [9, 4, 7, 2, 8, 1]),
        ("GENES", [100, 300, 200, 500, 400, 700]),
        ("id", range(6)),
        ("sampleID", range(6)),
    ],
)
def test_ids_are_told_by_name_and_content(name, values):
    frame = pd.DataFrame(
        {name: list(values), "a": [1.5, 2, 3, 4, 5, 6], "paid": [1, 2, 2, 3, 4, 5]}
    )
    found = describe_data(frame)
    assert found.facts.id_columns == (name,)
    assert repr(name) in str(found)
    # Ids come once: a column that repeats itself is none, whatever it is called.
    frame[name] = 3
    assert describe_data(frame).facts.id_columns == ()


def test_numbers_of_the_rows_are_ids_without_a_name():
    X = np.column_stack([np.random.default_rng(0).permutation(60), drawn("plain", shape=(60, 3))])
    assert describe_data(X).facts.id_columns == ("column 1",)
    X[0, 0] = 300
    assert describe_data(X).facts.id_columns == ()


def test_a_list_of_cells_is_no_table():
    rng = np.random.default_rng(0)
    pairs = rng.permutation([(i, j) for i in range(12) for j in range(9)])[:60]
    cells = np.column_stack([pairs, rng.integers(1, 6, 60)])
    assert 'layout="triplets"' in str(describe_data(cells))
    cells[1, :2] = cells[0, :2]
    assert not describe_data(cells).facts.is_list
    assert not describe_data(rng.normal(size=(60, 3))).facts.is_list


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((5, 4)),
        np.ones((1, 1)),
        np.full((4, 3), np.nan),
        np.full((4, 3), 1e200),
        np.array([[1e-300, 2e-300], [3e-300, 0]]),
        np.array([[np.inf, 1.0], [2.0, 3.0]]),
        sparse.csr_array((6, 5)),
        -np.ones((3, 3)),
    ],
)
def test_odd_data_are_described(X):
    assert describe_data(X).kind in KINDS


def test_what_is_no_data_is_refused():
    with pytest.raises(ValueError, match="could not convert string"):
        describe_data(pd.DataFrame({"a": ["x", "y"]}))
    with pytest.raises(ValueError, match="max_cells must be"):
        describe_data(np.ones((3, 3)), max_cells=0)


def test_means_of_a_few_ratings_are_no_levels():
    """As a list is read that has some pairs twice."""
    X = drawn("ratings")
    at = np.argwhere(X > 0)[::20]
    X[tuple(at.T)] = np.where(np.arange(len(at)) % 2, 3.5, 10 / 3)
    assert describe_data(X).kind == "ratings"
    X[X == 4.0] = 4.25
    assert describe_data(X).kind != "ratings"


def test_few_cells_are_no_ratings():
    assert describe_data([[1.0, 2.0], [3.0, 4.0]]).kind != "ratings"


def test_large_values_are_written_short_and_remarked_on():
    X = np.random.default_rng(0).exponential(size=(30, 20)) * 1e200
    said = str(describe_data(X))
    assert "too large to be squared" in said
    assert "nan" not in said
    assert len(said) < 500
    assert "too large" not in str(describe_data(X / 1e200))


def test_nothing_is_called_nothing():
    assert "no cell has a value;" in str(describe_data(np.full((4, 3), np.nan)))
    assert "no cell has a value other than 0" in str(describe_data(np.zeros((4, 3))))
    assert str(describe_data(np.ones((1, 3)))).startswith("1 row and 3 columns")


def test_columns_of_one_value_are_said_to_be_kept():
    X = np.random.default_rng(0).normal(size=(20, 5))
    X[:, 2] = 4.0
    assert "grouped with the others" in str(describe_data(X))
    assert "grouped with the others" not in str(describe_data(np.delete(X, 2, axis=1)))


def scores(rng, shape=(200, 60)):
    """Points from 0 to 100 in four groups of rows and three of columns."""
    centres = rng.permuted(np.linspace(25, 75, 12)).reshape(4, 3)
    means = centres[np.arange(shape[0]) % 4][:, np.arange(shape[1]) % 3]
    return np.clip(np.rint(means + 15 * rng.normal(size=shape)), 0, 100)


@pytest.mark.parametrize("seed", range(4))
def test_whole_numbers_without_a_tail_are_not_counts(seed):
    """Their skewness is near zero, and its sign is nobody's evidence."""
    rng = np.random.default_rng(seed)
    evenly = rng.integers(0, 101, size=(100, 60)).astype(float)
    for X in (scores(rng), evenly, np.rint(evenly / 5)):
        assert describe_data(np.insert(X, 0, 0.0, axis=0)).kind == "plain"


@pytest.mark.parametrize("seed", range(2))
def test_counts_may_be_dense_and_large(seed):
    rng = np.random.default_rng(seed)
    shape = (200, 60)
    margins = np.exp(rng.normal(size=(200, 1)) + rng.normal(size=60))
    blocks = np.array([[2, 20, 2], [20, 2, 2], [2, 2, 20]])
    drawn = {
        "words": rng.poisson(0.1, size=shape),
        "a mean of 5": rng.poisson(5.0, size=shape),
        "log-normal margins": rng.poisson(50 * margins),
        "dispersed": rng.poisson(50 * rng.gamma(0.5, 2.0, size=shape)),
        "blocks": rng.poisson(blocks[np.arange(200) % 3][:, np.arange(60) % 3]),
    }
    for name, X in drawn.items():
        X[0, 0] = 0
        found = describe_data(X.astype(float))
        assert found.kind == "counts", name
        mostly_small = np.quantile(X, 0.5, method="lower") <= X.max() / 4
        assert ("small ones are the most common" in found.evidence) == mostly_small, name


def test_small_values_are_counted_among_all_cells_that_are_given():
    X = np.array([[0.0, 1.0, 2.0, np.nan], [0.0, 9.0, 8.0, 2.0]])
    assert describe_data(X).facts.small == pytest.approx(5 / 7)
    assert describe_data(np.nan_to_num(-X)).facts.small == 1.0
    assert describe_data(sparse.csr_array(np.nan_to_num(X))).facts.small == pytest.approx(6 / 8)


def test_rows_of_different_scales_are_told():
    rng = np.random.default_rng(0)
    scales = 10 ** rng.uniform(0, 2, size=(200, 1))
    for X, kind in ((drawn("ratios"), "ratios"), (20 + drawn("ratios"), "plain")):
        found = describe_data(X * scales[: len(X)])
        assert found.kind == kind
        assert f"rows differ in scale by up to {found.facts.row_scales:,.3g} times" in str(found)
        assert "outweigh all others" in found.implies
        assert describe_data(X).implies == "they can be compared as they are"
    # A few columns tell no scale, nor do levels, rows that are nearly constant, or sparse ones.
    few = rng.normal(size=(300, 3))
    levels = np.where(rng.random((100, 30)) < rng.choice([0.001, 0.3], size=(100, 1)), 3.0, 4.0)
    levels[:, 0], levels[0] = 4.0, 5.0
    apart = drawn("ratios") * scales[: len(X)]
    silent = apart * (rng.random(X.shape) < 0.3)
    for X in (few, levels, 1000 + apart, silent, sparse.csr_array(apart)):
        assert "rows differ" not in str(describe_data(X))


def test_distinct_integers_called_x_are_no_ids():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(4000)[:200], rng.permutation(4000)[:200], rng.random(200)])
    for name, is_id in (("x", False), ("number", False), ("index", True), ("case_no", True)):
        said = str(describe_data(X, column_names=[name, "y", "z"]))
        assert ("look like ids" in said) == is_id, name


def test_what_is_said_of_units_is_what_tells_of_them():
    """Scales that differ three times were given as the reason where means or one column were."""
    rng = np.random.default_rng(0)
    levels = rng.normal(np.arange(12) * 40.0, 1.0, size=(200, 12)) + 100
    said = str(describe_data(levels))
    assert "times as much as values of a column usually do" in said
    assert "in scale" not in said
    heavy = np.hstack([rng.poisson(3, (300, 15)), rng.poisson(300, (300, 1))]).astype(float)
    assert "1 of the 16 columns has" in str(describe_data(heavy))

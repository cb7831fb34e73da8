"""What can be asked for by name; no package is imported to list it."""

from __future__ import annotations

PREPROCESSORS = {
    "row-center": "subtract from each row its mean",
    "column-center": "subtract from each column its mean",
    "double-center": "subtract the means of rows and columns",
    "row-standardize": "bring each row to mean 0 and variance 1",
    "column-standardize": "bring each column to mean 0 and variance 1",
    "row-norm": "divide each row by its Euclidean norm",
    "row-norm-l1": "divide each row by the sum of its absolute values",
    "row-norm-max": "divide each row by its largest absolute value",
    "column-norm": "divide each column by its Euclidean norm",
    "column-norm-l1": "divide each column by the sum of its absolute values",
    "column-norm-max": "divide each column by its largest absolute value",
    "binormalize": "scale rows and columns until all rows, and all columns, have equal norms",
    "log1p": "replace x by log(1 + x); for counts and other non-negative data",
    "log2": "replace x by its logarithm to base 2; for positive intensities",
    "tfidf": "weigh columns by their rarity and divide each row by its norm",
    "binarize": "replace positive values by 1, others by 0",
    "drop-zeros": "store no zeros; with --missing ignore they are cells without a value",
}
"""Steps of `make_preprocessor` and `preprocess`: names, and what they do."""

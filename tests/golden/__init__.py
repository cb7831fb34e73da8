"""Results frozen before a rewrite: what every engine, kernel and estimator answered then."""

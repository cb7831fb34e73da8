"""Times and memory that asv follows over commits: `asv run`, `asv continuous main HEAD`."""

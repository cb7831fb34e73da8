"""How good results are, not how fast: `python -m benchmarks.quality`."""

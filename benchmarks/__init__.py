"""Benchmarks: ratios against named rivals and limits, both timed in the same run."""

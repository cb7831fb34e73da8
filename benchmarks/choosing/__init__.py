"""What is chosen for the user, on tables with known classes: `python -m benchmarks.choosing`."""

"""Matrices on disk in blocks of rows: written in one pass, read a block at a time."""

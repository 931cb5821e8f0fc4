"""Benchmarks: lockterm beside a bare Textual app, as ratios of one run."""

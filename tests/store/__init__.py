"""Tests of what lockterm keeps on this machine."""

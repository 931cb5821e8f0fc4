"""Tests of the remote form and its fields in the running app."""

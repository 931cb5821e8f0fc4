"""Tests of the embedded service, over real HTTP."""

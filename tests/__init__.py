"""Tests of lockterm: the real service over real HTTP; only time and faults are faked."""

"""Tests of lockterm: the real service over real HTTP; only time and faults are faked."""

import sys

# Where it is not kept, as in many containers, each worker compiles all of the tests again.
sys.dont_write_bytecode = False

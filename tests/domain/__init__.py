"""Tests of the rules, the dates and the words for validity: pure, without a service."""

"""Tests of the commands and the settings, from outside."""

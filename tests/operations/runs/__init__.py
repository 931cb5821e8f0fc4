"""The tests of plans that are carried out."""

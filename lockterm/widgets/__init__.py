"""Widgets that know the field: dates with zones, weekdays, pages, trees of voices."""

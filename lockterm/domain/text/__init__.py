"""All text for people, a module for each subject. Commands and screens only lay it out.

Functions are named ``format_*`` for a value, and ``describe_*`` for a sentence or more. A string of
the service becomes safe to show in :mod:`lockterm.domain.safe_text` alone.
"""

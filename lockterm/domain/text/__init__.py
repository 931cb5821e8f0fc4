"""The texts for users, in one module per subject. Commands and screens only lay out these texts.

A function named ``format_*`` returns a value as text; one named ``describe_*`` returns sentences.
Only :mod:`lockterm.domain.safe_text` makes a string from the service safe to show.
"""

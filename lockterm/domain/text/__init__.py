"""The texts that users see, in one module per subject. Commands and screens only arrange them.

A function named ``format_*`` returns a value as text. A function named ``describe_*`` returns
sentences. Only :mod:`lockterm.domain.safe_text` makes a text from the service safe to show.
"""

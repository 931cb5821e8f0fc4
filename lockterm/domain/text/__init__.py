"""The texts that users see, in one module for each subject.

The texts about people, shortened access and changes by others are in the modules ``people``,
``shortening`` and ``changes_elsewhere`` of :mod:`lockterm.domain`.

A function named ``format_*`` returns a value as text. A function named ``describe_*`` returns
sentences. Commands and screens show these texts, and do not build their own. Only
:mod:`lockterm.domain.safe_text` makes a text from the service safe to show.
"""

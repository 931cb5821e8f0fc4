"""The commands: what is typed after ``lockterm``.

``commands`` declares them, each in a module of its own that is imported when it runs; ``ending``
turns what went wrong into a sentence and an exit code.
"""

"""The commands: what is typed after ``lockterm``.

``commands`` has the list of them and imports each from a module of its name when it is wanted;
``options`` are what several take; ``which_lock`` opens the ``session`` of a command on a lock;
``ending`` turns what went wrong into a sentence and an exit code.
"""

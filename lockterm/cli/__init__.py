"""The commands of ``lockterm``.

``commands`` has the table of commands and imports a command's module when the command is run.
``options`` has the options that several commands take, ``session`` opens the service and the store
for a command, and ``exit_codes`` turns an error into a sentence and an exit code.
"""

"""The commands of ``lockterm``.

``commands`` lists the commands, and imports a command's module when the command is run. ``options``
defines the options that several commands take, and ``manual`` the parts that their help texts
share. ``session`` connects a command to the service and the store. ``exit_codes`` turns an error
into a sentence and an exit code.
"""

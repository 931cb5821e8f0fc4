"""The embedded service: all 12 endpoints of the interface contract, over SQLite or PostgreSQL.

It imports nothing else of lockterm, so that a misreading of the contract cannot hide on both
sides. ``app.create_service`` creates the application, and ``running`` serves it. Each module
documents its choices where the contract is silent: ``answers`` codes and envelopes, ``parameters``
the accepted parameters, ``remotes`` the rules of validity, ``remote_table`` the order of lists.
"""

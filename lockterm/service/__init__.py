"""The embedded service: all 12 endpoints of the interface contract, over SQLite or PostgreSQL.

It imports nothing else of lockterm, so that a misreading of the contract cannot hide on both
sides. ``app.create_service`` makes the application, ``running`` serves it. What it does where the
contract is silent is written where it happens: codes and envelopes in ``answers``, how parameters
are read in ``parameters``, the rules of a remote's validity in ``remotes``, the order of lists in
``remote_table``.
"""

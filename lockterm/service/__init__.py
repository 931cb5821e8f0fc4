"""The embedded service: all 12 endpoints of the interface contract, over SQLite or PostgreSQL.

The service imports nothing else of lockterm, so that client and service cannot share a misreading
of the contract. ``app.create_service`` creates the application, and ``running`` serves it. Where
the contract is silent, each module documents its choices: ``answers`` for codes and envelopes,
``calls`` for the accepted parameters, ``remotes`` for the rules of validity, and ``remote_table``
for the order of lists.
"""

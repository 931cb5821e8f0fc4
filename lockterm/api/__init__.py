"""The client of the lock service, usable without the UI.

It has a method for each reading call of the contract, and ``send`` for the calls that change data.
Read the modules in this order: ``client`` (the calls), ``writes`` (a change before it is sent),
``request``, ``transport`` (one exchange), ``answer``, ``envelope`` (the meaning of the answer),
``retry_policy``.
"""

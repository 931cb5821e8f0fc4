"""The service client, usable without the UI: a method for each read of the contract, and ``send``.

Read the modules in this order: ``client`` (the calls), ``writes`` (a change before it is sent),
``request``, ``transport`` (one exchange), ``answer``, ``envelope`` (the meaning of the answer),
``retry_policy``.
"""

"""The service client, usable without the UI: a method for each read of the contract, and ``send``.

Reading order: ``client`` (the calls), ``writes`` (what a change is), ``transport`` (one exchange),
``envelope`` and ``decoder`` (what the answer means), ``retry_policy`` (what is tried again).
"""

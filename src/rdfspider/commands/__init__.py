"""The commands of `rdfspider`: flags enter, calls of `rdfspider.api` leave, and results are printed; there is no crawler
logic here.

A module contains one command, or a few related ones. The table in `cli.py` lists them, so that a command is imported when it
is invoked. Shared flags are in `options`, output to terminals in `terminal` and `display`. Data goes to stdout, everything
else to stderr; invalid input is a `UsageError`.
"""

"""The commands of `rdfspider`: flags enter, calls of `rdfspider.api` leave, and results are printed; no logic of the
crawler is here.

A module holds one command, or a few that belong together. The table in `cli.py` says which, so that a command is
imported when it is invoked. Flags that several commands share are in `options`, what is printed on terminals in
`terminal` and `display`. Data goes to stdout, everything else to stderr; invalid input is a `UsageError`.
"""

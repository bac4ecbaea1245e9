"""Child processes: starts, supervises, kills and confines them, for every stage that needs a separate process.

There are two kinds. The first answers messages and may be killed at any moment: `child.py` is the parent's end, `framing.py` the
child's, `calls.py` calls any function that way; untrusted extraction code and SPARQL have their own messages. The second works by
itself until it ends: `module_process.py` starts it with an order on stdin, `supervisor.py` restarts it with growing pauses.
`confinement.py` limits a child's resources, `budgets.py` the processor time of code in this process; `signals.py` handles Ctrl-C
and SIGTERM in a parent.

Invariants: no child outlives its parent for long; every wait for an answer has a deadline; killing a child loses only the answer
to its current question.
"""

"""Child processes: started, watched, killed and confined. Every stage that needs a process of its own uses these.

Two kinds are there. A child that answers messages and may be killed at any moment: `child.py` is the parent's end, `framing.py`
the child's, `calls.py` calls any function that way; extraction of untrusted code and SPARQL have their own messages. And a child
that works by itself until it ends: `module_process.py` starts it with an order on stdin, `supervisor.py` keeps it alive with
growing pauses. `confinement.py` bounds what a child may use; `signals.py` is Ctrl-C and SIGTERM for a parent.

Invariants: no child outlives its parent for long; every wait for an answer has a deadline; a child that was killed costs the one
question that it was answering.
"""

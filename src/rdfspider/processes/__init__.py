"""Child processes that can be killed, watched and confined, and signals: used by every stage that needs a process of its own."""

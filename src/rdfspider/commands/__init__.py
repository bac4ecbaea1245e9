"""What people type: one module a command, or a few that belong together. Flags in, calls of `run` out."""

"""The command line, run in the test's process, which has everything imported already. For tests only."""

import contextlib
import io
import subprocess

from rdfspider.cli import run_command


def run_line(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `rdfspider` with these arguments, as if in a process of its own: its exit code, stdout and stderr."""
    line = [str(argument) for argument in arguments]
    data, errors = io.BytesIO(), io.StringIO()
    output = io.TextIOWrapper(data, encoding="utf-8", newline="")
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = run_command(line)
    output.flush()
    return subprocess.CompletedProcess(["rdfspider", *line], code, data.getvalue().decode(), errors.getvalue())

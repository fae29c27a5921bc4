"""Runs the command `dappled` with a time limit."""

import os
import subprocess
import sys

LIMIT = 60
COMMAND = [sys.executable, "-m", "dappled"]


def dappled(*arguments, **variables):
    """Runs the command; variables that are None are not set."""
    changed = {**os.environ, **variables}
    env = {name: value for name, value in changed.items() if value is not None}
    command = [*COMMAND, *map(str, arguments)]
    given = variables.pop("input", None)
    env.pop("input", None)
    return subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, env=env, input=given
    )

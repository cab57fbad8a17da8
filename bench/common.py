# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the benchmarks share: how much is measured, and how commands are run."""
import os
import re
import subprocess

QUICK = os.environ.get("BENCH_QUICK", "") not in ("", "0")
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "2" if QUICK else "5"))
BLOCKS = 151 if QUICK else 901  # of some tenths of a millisecond, in each round
PACE = 5_000_000  # events a second
PAUSE = 0.05  # seconds between short recordings


class Failed(Exception):
    """A row that could not be measured: why."""


class Skipped(Exception):
    """A row whose peer is not here: what to do."""


def call(command, **options):
    """Runs a command that must succeed. Returns its output."""
    done = subprocess.run(command, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        raise Failed(f"{os.path.basename(command[0])} failed: {(done.stderr.strip() or done.stdout.strip())[-300:]}")
    return done.stdout


def first_line(command):
    try:
        return call(command).splitlines()[0].strip()
    except (OSError, Failed, IndexError):
        return ""


def disturbed(runs):
    """What to add to a result whose instructions were slowed by another thread on the core (bench/timing.h)."""
    return " (core never alone)" if any(run.get("disturbed") for run in runs) else ""


def values(output):
    """The `key value` lines of a benchmark program."""
    return {key: float(value) for key, value in re.findall(r"^(\w+) ([-+0-9.e]+)$", output, re.M)}

# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Recordings of the kernel's events."""
from recording import *

CALLS = program("systemcalls")
SYSCALL, SCHED = "kernel.syscalls:", "kernel.sched:"
MISSING = None


def kernel(*globs):
    return [option for glob in globs for option in ("-k", glob)]


def need_kernel():
    """Skips where the recorder may not attach to the kernel's tracepoints."""
    global MISSING
    if MISSING is None:
        match = re.search(r"^burin: no kernel events: (.*)", record("true", options=kernel("sched:sched_switch")).err, re.M)
        MISSING = match.group(1) if match else ""
    if MISSING:
        raise Skip(f"kernel events are not permitted here: {MISSING}")


def of(trace, name):
    return [event for event in trace.ours if event["event"] == name]

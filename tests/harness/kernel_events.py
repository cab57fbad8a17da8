# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What tests of kernel events share: a program that makes known system calls, and a recorder that runs beside it."""
import contextlib
import ctypes
import signal

from running import *

CALLS = program("systemcalls")
SYSCALL, SCHED = "kernel.syscalls:", "kernel.sched:"
ENTER, EXIT = SYSCALL + "sys_enter_getppid", SYSCALL + "sys_exit_getppid"
ORDER = ["order.before", ENTER, EXIT, "order.after"]
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


class Server:
    """`systemcalls serve`: server(N) makes it record N times an event, getppid, an event."""

    def __init__(self, *command):
        self.process = start(*command or (CALLS, "serve"), stdin=subprocess.PIPE)
        self.pid = self.process.pid
        equal(self.process.stdout.readline(), b"ready\n", "the program's line")

    def __call__(self, count):
        self.process.stdin.write(b"%d\n" % count)
        self.process.stdin.flush()
        equal(self.process.stdout.readline(), b"%d\n" % count, "the program's answer")

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def of(trace, name):
    return [event for event in trace.ours if event["event"] == name]


@contextlib.contextmanager
def recorder(*arguments, options=(), ready=lambda: True):
    """`burin record` of what runs already, up to Ctrl-C at the end of the block. Then the value has its result."""
    done = Recording(Result(None, "", ""), fresh())
    process = start(BURIN, "record", "--no-samples", "-o", done.path, *options, *arguments)
    try:
        wait_until(lambda: attached(process, done.path) and ready(), "the recorder")
        yield done
        process.send_signal(signal.SIGINT)
        result = ended(process)
    finally:
        process.kill()
        process.wait()
    equal(result.status, 0, f"status of the recorder ({result.err[-300:]})")
    done.__init__(result, done.path)


def programs_of(pid):
    """The programs and maps in the kernel that a process holds: {kind and id}."""
    held = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as file:
                held |= {(kind, int(number)) for kind, number in re.findall(r"^(prog|map)_id:\s*(\d+)", file.read(), re.M)}
    except OSError:
        pass
    return held


def living(held):
    """Those of them that the kernel still has, whoever holds them (BPF_PROG_GET_FD_BY_ID, BPF_MAP_GET_FD_BY_ID)."""
    libc, there = ctypes.CDLL(None, use_errno=True), set()
    for kind, number in held:
        attribute = (ctypes.c_uint32 * 32)(number)
        fd = libc.syscall(321, 13 if kind == "prog" else 14, ctypes.byref(attribute), ctypes.sizeof(attribute))
        if fd >= 0:
            os.close(fd)
            there.add((kind, number))
    return there


def gone(held):
    """Until the kernel has freed them: it waits for its CPUs."""
    check(held, "nothing was held")
    wait_until(lambda: not living(held), f"the end of {held}", 60)


def attached(process, path):
    """Whether a recorder has begun: it has its programs, and its table of events."""
    check(process.poll() is None, "the recorder has ended")
    begun = any(os.path.exists(os.path.join(path, chunk, ".burin", "recording")) for chunk in (".", "0001"))
    return begun and bool(programs_of(process.pid))

# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What tests of kernel events share: a program that makes known system calls, and a recorder that runs beside it."""
import contextlib
import signal

from running import *

CALLS = program("systemcalls")
ENTER, EXIT = "kernel.syscalls:sys_enter_getppid", "kernel.syscalls:sys_exit_getppid"
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
    """How many programs in the kernel a process holds."""
    try:
        return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")].count("anon_inode:bpf-prog")
    except OSError:
        return 0


def attached(process, path):
    """Whether a recorder has begun: it has its programs, and its table of events."""
    check(process.poll() is None, "the recorder has ended")
    begun = any(os.path.exists(os.path.join(path, chunk, ".burin", "recording")) for chunk in (".", "0001"))
    return begun and programs_of(process.pid) > 0

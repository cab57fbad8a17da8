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
PLACE = "/sys/kernel/tracing"
WITH_TRACEFS = ("unshare", "-m", "/bin/sh", "-c", f"test -d {PLACE}/events || mount -t tracefs tracefs {PLACE}; exec \"$@\"", "sh")
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


def mechanism(name):
    return dict(os.environ, BURIN_KERNEL_MECHANISM=name)


def check_calls(name, count):
    """Calls of getppid: each has both records, of the program's only thread, in pairs."""
    done = record(CALLS, "getppid", count, options=kernel("syscalls:*getppid"), env=mechanism(name))
    equal(done.status, 0, "status")
    trace = done.read()
    equal(trace.lost, 0, "lost")
    calls = [event for event in trace.ours if event["event"] in (ENTER, EXIT)]
    equal([event["event"] for event in calls], [ENTER, EXIT] * count, "the calls")
    equal(len({event["tid"] for event in calls}), 1, "threads")
    equal({event["fields"]["ret"] for event in calls[1::2]}, {done.pid}, "results: the recorder is the parent")
    equal(trace.thread(calls[0]["tid"]), (calls[0]["tid"], "systemcalls"), "the thread's announcement")
    return done


def check_fallback(name):
    """Without programs: children, filters with any glob, records of every group with their types, and order with the program's events."""
    env = mechanism(name)
    for where, count in ((None, 37), ('child_comm == "s?stem[a-d]*"', 37), ('parent_comm == "s?stem[d-z]*"', 0), ("child_pid < 0 || tid == 0", 0)):
        options = [*kernel("sched:sched_process_fork"), *(["--k-where", where] if where else ())]
        trace = record(CALLS, "fork", 37, options=options, env=env).read()
        equal((trace.lost, len(of(trace, "kernel.sched:sched_process_fork"))), (0, count), f"forks where {where}")
        equal(len({event["fields"]["pid"] for event in of(trace, "kernel.task:task_newtask")}), 37, "children")
    done = record(CALLS, "order", 5003, options=kernel("syscalls:*getppid"), env=env)
    trace = done.read(big=True)
    equal(trace.lost, 0, "lost")
    events = [event["event"] for event in dump(done.path) if event["event"] in ORDER]
    equal(events[events.index("order.before"):] == ORDER * 5003, True, "events and system calls are in order")
    trace = record("sh", "-c", "ls / | sort; exec ls /proc/self", env=env,  # by perf each more takes long to close
                   options=kernel("sched:sched_w*", "sched:sched_process_ex*", "syscalls:*", "signal:*", "kmem:rss_stat")).read()
    check(len({event.name for event in trace.events}) > 10, f"events: {sorted({event.name for event in trace.events})}")
    equal(trace.lost, 0, "lost")


def check_losses(name):
    """What buffers lose is counted: records and losses are all calls."""
    done = record(CALLS, "getppid", 200003, options=[*kernel("syscalls:sys_enter_getppid"), "--kernel-buffer", "256K"], env=mechanism(name))
    equal(done.status, 0, f"status ({done.err})")
    trace = done.read(big=True)
    equal(len([event for event in dump(done.path) if event["event"] == ENTER]) + trace.lost, 200003, f"records and losses ({done.err})")
    return trace.lost


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


def of(trace, *names):
    return [event for event in trace.ours if event["event"] in names]


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
    folder = f"/proc/{pid}/fdinfo"
    for fd in os.listdir(folder) if os.path.isdir(folder) else ():
        try:
            with open(f"{folder}/{fd}", encoding="ascii") as file:
                held |= {(kind, int(number)) for kind, number in re.findall(r"^(prog|map)_id:\s*(\d+)", file.read(), re.M)}
        except OSError:  # it was closed meanwhile
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

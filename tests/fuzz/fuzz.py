#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Builds and runs the fuzz targets; fuzz.h has a list of them.

    fuzz.py BUILD [DOOR...] [--seconds N] [--jobs N]   replay all that is kept, then fuzz each door for N seconds
    fuzz.py --seeds BUILD                              make the corpus anew, from the generators of the other tests

The targets are built into BUILD/fuzz, by clang. What is found that reaches new code is kept in BUILD/fuzz/found/DOOR and used
by the next run; tests/fuzz/fuzz.test keeps nothing, since to replay all of it would take much of its 4 s. An input that breaks a door is left in BUILD/fuzz/broken: mend what it breaks, and move it to
tests/fuzz/broken/DOOR, so that it is replayed for ever. At its end it prints what was executed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(1, os.path.join(TOP, "tests", "harness"))
import kernel_file
DOORS = ["trace", "profile", "calls", "metadata", "session", "recover", "timer", "symbols", "jitmap", "filter", "unwind", "uftrace", "kernel", "guest"]
# The longest input of each door: more makes it slow and reaches nothing new.
LENGTH = {"trace": 40000, "profile": 30000, "calls": 20000, "metadata": 16000, "session": 2000, "recover": 2000, "timer": 16000, "symbols": 12000, "jitmap": 4000, "filter": 2500,
          "unwind": 12000, "uftrace": 4000, "kernel": 8000,
          "guest": 8000}
# As in archive.c.
NAMES = [".burin/recording", ".burin/events", ".burin/origin", ".burin/profile", ".burin/images", ".burin/tasks", ".burin/stacks",
         ".burin/contexts", ".burin/symbols", "metadata", "names", "names.1", "cpu0", "cpu0.1", "cpu0.2", "cpu1", "cpu1.1", "locked0",
         "samples0", "samples1", "samples0.1", ".burin/calls.images", ".burin/calls.functions", ".burin/calls.symbols",
         ".burin/calls.open", ".burin/calls.counts", ".burin/calls.values", "changes", "kernel0"]
INPUT_S = 100        # an input that takes longer hangs
MEMORY_MB = 1500     # of a process, its sanitizers' included
ONE_MB = 600         # of one allocation


class Missing(Exception):
    """Something that the machine lacks."""


def build(where):
    """Builds the targets; returns the directory that has them."""
    fuzz = os.path.join(where, "fuzz")
    if not shutil.which("clang"):
        raise Missing("there is no clang")
    if not os.path.exists(os.path.join(fuzz, "build.ninja")):
        shutil.rmtree(fuzz, ignore_errors=True)
        cache = "ccache " if shutil.which("ccache") else ""  # meson uses it of itself only with the compiler of its own choice
        environment = dict(os.environ, CC=f"{cache}clang", CXX=f"{cache}clang++")
        done = subprocess.run(["meson", "setup", fuzz, TOP, "-Doptimization=1", "-Ddebug=false", "-Dc_args=-gline-tables-only"], env=environment, text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"not ok build: meson: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    targets = subprocess.run(["ninja", "-C", fuzz, "-t", "targets", "all"], text=True, capture_output=True).stdout
    if not re.search("^fuzz: phony", targets, re.M):
        raise Missing("clang has no libFuzzer: install libclang-rt-14-dev")
    done = subprocess.run(["ninja", "-C", fuzz, "fuzz"], text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"not ok build: {done.stdout[-3000:]}")
    return fuzz


class Door:
    """One target, started with all that is kept of it."""

    def __init__(self, fuzz, name, seconds, tmp, keep):
        self.name = name
        self.broken = os.path.join(fuzz, "broken")
        self.log = os.path.join(fuzz, f"{name}.log")
        self.tmp = tempfile.mkdtemp(prefix=f"{name}-", dir=tmp)
        self.found = os.path.join(fuzz if keep else self.tmp, "found", name)
        os.makedirs(self.found, exist_ok=True)
        os.makedirs(self.broken, exist_ok=True)
        kept = [d for d in (os.path.join(HERE, "corpus", name), os.path.join(HERE, "broken", name)) if os.path.isdir(d)]
        # Generous, for a machine that does other things as well: an input that hangs does not end at all.
        self.command = [os.path.join(fuzz, "tests", "fuzz", f"fuzz-{name}"), f"-max_len={LENGTH[name]}", f"-timeout={INPUT_S}",
                        f"-rss_limit_mb={MEMORY_MB}", f"-malloc_limit_mb={ONE_MB}", "-print_final_stats=1", "-verbosity=0",
                        f"-artifact_prefix={self.broken}/{name}-", f"-max_total_time={seconds}", self.found, *kept]
        if os.environ.get("TEST_SEED"):
            self.command.insert(1, f"-seed={int(os.environ['TEST_SEED'], 0) & 0xffffffff}")
        if not seconds:
            self.command[-len(kept) - 2] = "-runs=0"
        options = "detect_leaks=1:allocator_may_return_null=1"
        self.environment = dict(os.environ, TMPDIR=self.tmp, ASAN_OPTIONS=options, UBSAN_OPTIONS="print_stacktrace=1")
        self.process = None

    def start(self):
        self.begin = time.monotonic()
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def end(self):
        """The executions, and what it broke on ("" if nothing)."""
        status = self.process.wait()
        self.seconds = time.monotonic() - self.begin
        shutil.rmtree(self.tmp, ignore_errors=True)
        with open(self.log, errors="replace") as log:
            text = log.read()
        done = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        self.executions = int(done.group(1)) if done else 0
        if status == 0 and done:
            return ""
        wrong = re.search(r"^.*(ERROR: .*|runtime error: .*|\S+\.c:\d+: .*|\d+ faults: .*)$", text, re.M)
        test = re.search(r"Test unit written to (\S+)", text)
        return f"{wrong.group(0) if wrong else f'exit status {status}'}; input: {test.group(1) if test else 'none'}; log: {self.log}"


def run(fuzz, names, seconds, jobs, keep):
    """Fuzzes doors, several at once; yields each at its end, with what it broke on. @keep: what they find, for the next run"""
    # Traces and sessions are written and removed thousands of times a second.
    with tempfile.TemporaryDirectory(prefix="burin-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as tmp:
        waiting = [Door(fuzz, name, seconds, tmp, keep) for name in names]
        running = []
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(waiting.pop(0))
                running[-1].start()
            ended = [d for d in running if d.process.poll() is not None]
            for door in ended:
                running.remove(door)
                yield door, door.end()
            if not ended:
                time.sleep(0.05)


def summary(doors):
    total = 0
    for door in doors:
        total += door.executions
        print(f"# {door.name:9} {door.executions:9} executions, {door.executions / max(door.seconds, 0.1):7.0f} a second")
    print(f"# {total} executions in all")


# ---- seeds

def pack(directory, only=None, longest=1 << 30):
    """A trace as an input; archive.h."""
    out = b""
    for number, name in enumerate(NAMES):
        path = os.path.join(directory, name)
        if os.path.exists(path) and (only is None or name in only):
            with open(path, "rb") as file:
                data = file.read(longest if not name.startswith(".burin") else -1)
            out += bytes([number]) + len(data).to_bytes(4, "little") + data
    return out


def words(*values):
    return b"".join(v.to_bytes(n, "little") for n, v in values)


def go_table(magic):
    """The table of functions of a Go program, with two of them."""
    old, absolute = magic == 0xfffffffb, magic in (0xfffffffb, 0xfffffffa)
    size = 8 if absolute else 4
    words = {0xfffffffb: 1, 0xfffffffa: 7}.get(magic, 8)
    index = 8 + 8 * words
    functions = 5 * size  # from the index: two entries, and the end
    names = index + functions + 2 * (size + 4)
    begins = [(0x1000 if absolute else 0) + n * 32 for n in range(3)]
    name = lambda n: n * 10 + (names if old else 0)
    header = {1: [2], 7: [2, 0, names, 0, 0, 0, index], 8: [2, 0, 0x1000, names, 0, 0, 0, index]}[words]
    out = magic.to_bytes(4, "little") + bytes([0, 0, 1, 8]) + b"".join(word.to_bytes(8, "little") for word in header)
    for n in range(2):
        at = functions + n * (size + 4) + (index if old else 0)
        out += begins[n].to_bytes(size, "little") + at.to_bytes(size, "little")
    out += begins[2].to_bytes(size, "little")
    for n in range(2):
        out += begins[n].to_bytes(size, "little") + name(n).to_bytes(4, "little")
    return out + b"main.main\0main.hot1\0"


def make_seeds(where):
    def keep(door, name, data):
        folder = os.path.join(HERE, "corpus", door)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    with tempfile.TemporaryDirectory() as tmp:
        make = os.path.join(where, "tests", "{}")
        sample = os.path.join(tmp, "sample")
        subprocess.run([make.format("read/make-sample"), sample], check=True, stdout=subprocess.DEVNULL)
        keep("trace", "sample", pack(sample, ("metadata", ".burin/recording", ".burin/events", "names", "cpu0", "locked0"), 4096))
        keep("trace", "files", pack(sample, (".burin/recording", ".burin/events", "cpu0.1", "cpu1", "cpu1.1"), 2048))
        keep("metadata", "sample", pack(sample, ("metadata", ".burin/recording", ".burin/events", "names", "cpu0"), 1024))
        origin = words((4, 0), (4, 0)) * 40
        keep("metadata", "origin", pack(sample, (".burin/recording", ".burin/events")) + bytes([2]) + words((4, len(origin))) + origin)
        for kind in ("small", "waits"):
            trace = os.path.join(tmp, kind)
            subprocess.run([make.format("read/make-profile"), trace, kind], check=True, stdout=subprocess.DEVNULL)
            keep("profile", kind, pack(trace, longest=800))

        # Calls of a program that ended while two were open.
        source, program, trace = (os.path.join(tmp, n) for n in ("calls.c", "calls", "calls.burin"))
        with open(source, "w") as file:
            file.write("#include <signal.h>\nint leaf(int n) { return n; }\nint inner(int n) { return raise(SIGKILL) + n; }\n"
                       "int main(void) { for (int n = 0; n < 9; n++) leaf(n); return inner(1); }\n")
        subprocess.run(["gcc", "-finstrument-functions", source, "-o", program], check=True)
        subprocess.run([os.path.join(where, "src", "burin"), "record", "-q", "--no-samples", "--calls", "-o", trace, "--", program])
        for stream in os.listdir(trace):  # the archive has no other CPU
            if stream.startswith("cpu"):
                os.rename(os.path.join(trace, stream), os.path.join(trace, "cpu0"))
        keep("calls", "open", pack(trace, longest=600))

        # The kernel's events of a short program, of one CPU; where that is permitted.
        trace = os.path.join(tmp, "kernel")
        subprocess.run([os.path.join(where, "src", "burin"), "record", "-q", "--no-samples", "--sched", "-k", "syscalls:sys_*_openat", "-k", "syscalls:sys_*_wait4",
                        "-o", trace, "--", "taskset", "-c", "0", "sh", "-c", "true; sleep 0.01; exit 0"])
        if os.path.exists(os.path.join(trace, "kernel0")):
            keep("trace", "sched", pack(trace, (".burin/recording", ".burin/events", "names", "kernel0"), 12000))

        # The same with calls that change descriptors. All others, which it would have to have, are some 100 KB of descriptions.
        trace = os.path.join(tmp, "descriptors")
        calls = ("openat", "close", "dup2", "fcntl", "execve", "clone", "pipe2", "read", "exit_group")
        subprocess.run([os.path.join(where, "src", "burin"), "record", "-q", "--no-samples", *(word for call in calls for word in ("-k", f"syscalls:sys_*_{call}")),
                        "-o", trace, "--", "taskset", "-c", "0", "sh", "-c", "cat < /dev/null | cat; exec 5> /dev/null; echo >&5"], env={"PATH": "/usr/bin:/bin"})
        if os.path.exists(os.path.join(trace, "kernel0")):
            with open(os.path.join(trace, ".burin/recording"), "r+b") as file:
                whole = (file.read().rstrip(b"\n") + b"\nkernel_calls=0 18446744073709551615\n").ljust(4096, b"\n")
                file.seek(0)
                file.write(whole)
            keep("trace", "descriptors", pack(trace, (".burin/recording", ".burin/events", "names", "kernel0"), 12000))

        # Code: a library of two functions, its .eh_frame alone, and expressions.
        source, library, frame = (os.path.join(tmp, n) for n in ("x.c", "x.so", "x.frame"))
        with open(source, "w") as file:
            file.write("int g(int); int f(int a) { int b[99]; b[a] = g(a); return b[a + 1] + g(b[a]); }\n"
                       "int h(int a) { return f(a) + f(a + 1); }\n")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noseparate-code", "-Wl,-z,max-page-size=4096",
                        "-Wl,--build-id", "-o", library, source], check=True)
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.eh_frame", library, frame], check=True)
        with open(library, "rb") as file:
            image = file.read()
        with open(frame, "rb") as file:
            table = file.read()
        assert len(image) < 16000 and table
        keep("unwind", "memory", b"\0" + image)
        keep("unwind", "file", b"\1" + image)
        keep("unwind", "table", b"\2" + table)
        keep("unwind", "expression", b"\3" + bytes([0x77, 8, 0x06, 0x23, 16, 0x12, 0x1c, 0x31, 0x24, 0x22]))
        keep("symbols", "image", b"\2" + image)
        keep("guest", "image", image)

    text, place, done, state = b"\1\4name", bytes([2, 8, 0, 64, 1, 1, 0, 0]), bytes([3, 4]), b"\4\3\0\0"
    lined = bytes([2, 16, 0, 64, 2, 1, 1, 7, 1, 1, 9])
    messages = [text, place, lined, done, state]
    keep("symbols", "messages", b"\1" + b"".join(bytes([len(m)]) + m for m in messages))
    keep("symbols", "stream", b"\0\x07" + b"".join(len(m).to_bytes(4, "little") + m for m in messages))
    keep("symbols", "mangled", b"\3_ZN9wikipedia7article6formatIiSt6vectorIiSaIiEEEEvRKT_")
    for name, magic in (("go-1.2", 0xfffffffb), ("go-1.16", 0xfffffffa), ("go-1.18", 0xfffffff0), ("go-1.20", 0xfffffff1)):
        keep("symbols", name, b"\4" + go_table(magic))
    keep("symbols", "rust", b"\3_RNvMs0_NtCs1234_7mycrate3fooNtB5_3Bar3baz")

    keep("jitmap", "map", b"1000 20 first\n1020 10 second name\n0x1040 0x8 third\n1000 8 again\n")
    record = lambda kind, body: words((4, kind), (4, 16 + len(body)), (8, 5)) + body
    load = words((4, 9), (4, 9), (8, 0x1000), (8, 0x1000), (8, 16), (8, 1)) + b"jitted\0" + b"\x90" * 16
    move = words((4, 9), (4, 9), (8, 0x1000), (8, 0x1000), (8, 0x1100), (8, 16), (8, 1))
    lines = words((8, 0x1000), (8, 2), (8, 0x1000), (4, 3), (4, 0)) + b"a.js\0" + words((8, 0x1004), (4, 4), (4, 0)) + b"\xff\0"
    head = words((4, 0x4a695444), (4, 1), (4, 40), (4, 62), (4, 0), (4, 9), (8, 1), (8, 0))
    keep("jitmap", "dump", head + record(2, lines) + record(0, load) + record(1, move))

    test = lambda op, then, other, offset, low, span: bytes([op, 0, then, other]) + words((2, offset), (2, 0), (8, low), (8, span))
    program = words((4, 0), (2, 128), (2, 2), (8, 0x33), (2, 8), (6, 0)) + test(2, 1, 254, 0, 5, 9) + test(2, 255, 254, 4, 0, 9)
    keep("filter", "program", b"\1" + words((8, 0x33), (2, 128)) + program.ljust(128, b"\0") + words((4, 7), (4, 3)))
    keep("filter", "expression", b"\2" + words((8, 0xd3)) + b"len=%d text=%s\0len > 10 && (text == \"a*b\" || !pid == 3)\0"
         + words((4, 11)) + b"axb\0")
    keep("filter", "format", b"\3" + words((8, 0xd3)) + b"len=%-5d text='%.10s' 100%%")
    keep("filter", "rules", b"\5" + words((8, 0x44), (1, 3), (2, 54)) + b"+9:net.*\0?4:fuzz.*\0" + b"2 100 a > 3 && b == 2\0-9:fuzz.x\0\0\0\0" + b"a=%d b=%d")
    keep("filter", "glob", b"\4" + b"a*[!b-d]?x[\0aaaccxx[")
    record = lambda time, kind, depth, address, more=0: words((8, time), (8, kind | more << 2 | 5 << 3 | depth << 6 | address << 16))
    parts = [(0, b"Ftrace!\0" + words((4, 4), (2, 40), (1, 1), (1, 2), (8, 0x62), (8, 0x808), (2, 1024), (6, 0)) +
              b"cmdline:a b\nrecord_date:Sun Nov 22 15:42:40 2026\n"),
             (1, b'SESS timestamp=1.000000005 pid=1 sid=0000000000000001 exename="/bin/a"\nTASK timestamp=1.000000006 tid=1 pid=1\n'
              b'TASK timestamp=1.000000007 tid=2 pid=1\nFORK timestamp=1.000000009 pid=3 ppid=1\n'
              b'DLOP timestamp=1.000000009 tid=1 sid=0000000000000001 base=9000 libname="/lib/b"\n'),
             (2, b"1000-3000 r-xp 00000000 00:00 0   /bin/a build-id:0123456789012345678901234567890123456789\n7000-8000 rw-p 00000000 00:00 0  [stack]\n"),
             (3, b"# symbols: 3\n# path name: /bin/a\n0000000000000010 T main\n0000000000000040 10 T leaf\n0000000000000060 ? __sym_end\n"),
             (4, b"0000000000000000 T library\n"),
             (5, record(10**9 + 10, 0, 0, 0x1010) + record(10**9 + 12, 0, 1, 0x1040, 1) + b"\4\0text\0\0" + record(10**9 + 15, 1, 1, 0x1040)
              + record(0, 2, 0, 7) + record(10**9 + 16, 3, 1, 1000001) + record(10**9 + 20, 0, 1, 0x9004) + record(10**9 + 30, 1, 0, 0x1010)),
             (6, record(10**9 + 11, 0, 0, 0x1040)), (7, record(10**9 + 40, 1, 3, 0x1040))]
    keep("uftrace", "small", b"".join(words((1, name), (4, len(data))) + data for name, data in parts))
    line = lambda declaration, offset, size, signed=0: f"\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n"
    common = line("unsigned short common_type", 0, 2) + line("int common_pid", 4, 4, 1) + "\n"
    point = lambda system, name, *fields: f"{system}\0{name}\0name: {name}\nID: 9\nformat:\n{common}{''.join(line(*f) for f in fields)}\n".encode()
    keep("kernel", "switch", point("sched", "sched_switch", ("char prev_comm[16]", 8, 16), ("pid_t next_pid", 24, 4, 1), ("long prev_state", 32, 8, 1)))
    keep("kernel", "texts", point("net", "x", ("__data_loc char[] name", 8, 4), ("u8 mac[6]", 12, 6), ("const void * at", 24, 8), ("struct a b", 32, 8)))
    keep("kernel", "call", point("syscalls", "sys_enter_openat", ("int __syscall_nr", 8, 4, 1), ("int dfd", 16, 8), ("const char * filename", 24, 8)))
    keep("kernel", "arrays", point("net", "y", *[(f"u8 f{n}[64]", 8 + 64 * n, 64) for n in range(8)]))
    keep("kernel", "note", b"usdt\0(a:i32, b:str)\0-4@-20(%rbp) 8@%rax 4@$-1 1@4(%rbx,%rcx,8) 8@(,%rdx,2)")
    keep("guest", "text", b"ffffffff81000000 T _stext\nffffffff81001000 t one\nffffffff81003400 W two\t[module]\nffffffff81003400 T alias\n"
         b"ffffffff81009990 D data\nffffffff8130aaa0 T three\nffffffff8156b0c0 t four\n")
    keep("guest", "types", guest_types())
    keep("recover", "stores", words((1, 0), (4, 0x110), (1, 4), (4, 1)) + words((1, 3), (4, 0x40), (1, 8), (8, 4096)))
    keep("timer", "records", timer_parts())
    few = kernel_file.FUNCTIONS[:4] + kernel_file.FUNCTIONS[-2:]
    keep("guest", "kernel", kernel_file.elf(kernel_file.tables(few)))
    keep("guest", "absolute", kernel_file.elf(kernel_file.tables([(4096, "D", "x"), *few], "6.2", absolute=True)))
    keep("guest", "aarch64", kernel_file.image(kernel_file.tables(few, base=0)))
    for how in ("gzip", "xz", "zstd", "lz4"):
        keep("guest", f"vmlinuz.{how}", kernel_file.booted(kernel_file.packed(kernel_file.elf(kernel_file.tables(few, "6.1")), how)))
    keep("session", "stores", words((4, 0x110), (1, 4), (4, 1)) + words((4, 0x3000), (1, 2)) + b"\1\1")


def timer_parts():
    """A program that names itself, maps a file and forks; a sample with frames, one with a copy of a stack, and one in two rounds each."""

    def part(kind, data):
        return words((1, kind), (2, len(data))) + data

    def record(kind, misc, data):
        return words((4, kind), (2, misc), (2, 8 + len(data))) + data

    def side(kind, misc, data):
        return part(1, record(kind, misc, data + words((4, 4242), (4, 4242), (8, 0))))

    def sample(frames, stack):
        registers = words((8, 2), *((8, 0x7ffc00000000 + n) for n in range(17))) if stack else words((8, 0))
        return part(0, record(9, 2, words((8, 0x401010), (4, 4242), (4, 4243), (8, 0), (8, 4000000), (8, len(frames)), *((8, f) for f in frames))
                              + registers + words((8, len(stack))) + stack + (words((8, len(stack))) if stack else b"")))

    path = b"/bin/true"
    mapping = words((4, 4242), (4, 4242), (8, 0x400000), (8, 0x10000), (8, 0), (4, 8), (4, 1), (8, 77), (8, 0), (4, 5), (4, 2)) + path.ljust(16, b"\0")
    return (side(3, 0x2000, words((4, 4242), (4, 4242)) + b"fuzz".ljust(8, b"\0")) + side(10, 2, mapping)
            + side(7, 0, words((4, 4242), (4, 4242), (4, 4243), (4, 4242))) + sample((0xfffffffffffffe00, 0x401010, 0x402020), b"")
            + part(3, b"") + sample((), bytes(range(64))) + part(3, b"") + side(4, 0, words((4, 4242), (4, 4242), (4, 4243), (4, 4242)))
            + part(2, words((4, 0x3000), (8, 1))) + part(3, b"") + sample((0xfffffffffffffe00, 0x401010), b""))


def guest_types():
    """The types of a kernel, as far as its tasks are in them."""
    strings, types = bytearray(b"\0"), b""

    def name(text):
        strings.extend(text.encode() + b"\0")
        return len(strings) - len(text) - 1

    def head(text, kind, count, size):
        return words((4, name(text)), (4, kind << 24 | count), (4, size))

    types += head("task_struct", 4, 6, 4000)
    for member, at in (("stack", 32), ("pid", 1000), ("tgid", 1004), ("group_leader", 1040), ("comm", 1200), ("", 1300)):
        types += words((4, name(member)), (4, 2 if not member else 3), (4, at * 8))
    types += head("", 5, 1, 8) + words((4, name("inner")), (4, 2), (4, 0))  # contains itself
    types += head("current_task", 14, 0, 1) + words((4, 1)) + head("this_cpu_off", 14, 0, 1) + words((4, 1))
    types += head(".data..percpu", 15, 2, 9000) + words((4, 3), (4, 0x1fbc0), (4, 8)) + words((4, 4), (4, 0x1a000), (4, 8))
    types += head("irq_stack", 4, 0, 16384) + head("fixed_percpu_data", 4, 0, 48)
    return words((2, 0xeb9f), (1, 1), (1, 0), (4, 24), (4, 0), (4, len(types)), (4, len(types)), (4, len(strings))) + types + bytes(strings)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("doors", nargs="*", metavar="DOOR")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seeds", action="store_true")
    options = parser.parse_args()
    where = os.path.abspath(options.build)
    if options.seeds:
        return make_seeds(where)
    unknown = [d for d in options.doors if d not in DOORS]
    if unknown:
        parser.error(f"there is no door {unknown[0]}; there are {', '.join(DOORS)}")
    try:
        fuzz = build(where)
    except Missing as why:
        sys.exit(f"fuzz: {why}")
    ended, broken = [], False
    for door, why in run(fuzz, options.doors or DOORS, options.seconds, options.jobs, keep=True):
        ended.append(door)
        broken |= bool(why)
        if why:
            print(f"{door.name}: {why}")
    summary(ended)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

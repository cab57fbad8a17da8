# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Shared by the tests that attach recorders of calls to a running program: the program, in each way of hooks, and the recorder."""
import collections
import platform
import signal

from live import *

SOURCE = os.path.join(TOP, "tests/programs/attached.c")
PATCHABLE = ("-fpatchable-function-entry=5",)
WAYS = {
    "gcc": ("gcc", *PATCHABLE), "gcc-fixed": ("gcc", "-fcf-protection", "-fpatchable-function-entry=9,4", "-fno-pie", "-no-pie"),
    "gcc-short": ("gcc", "-fpatchable-function-entry=7,5"), "clang": ("clang", *PATCHABLE),
    "fentry": ("gcc", "-pg", "-mfentry"), "fentry-fixed": ("gcc", "-pg", "-mfentry", "-fno-pie", "-no-pie"), "gcc-9": ("gcc", "-fpatchable-function-entry=9"),
    "mcount": ("gcc", "-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount", "-fno-pie", "-no-pie"),
    "clang-9": ("clang", "-fpatchable-function-entry=9"),
    "xray": ("clang", *xray()),
}
built = {}


def x86(function):
    def body():
        if platform.machine() != "x86_64":
            raise Skip("code is changed on x86-64 only")
        return function()
    return body


def compiled(way="gcc", *more):
    """The program, compiled once for each way."""
    if (way, more) not in built:
        compiler, *flags = WAYS[way]
        need(compiler)
        path = os.path.join(fresh("program"), "attached")
        os.makedirs(os.path.dirname(path))
        made(compiler, "-w", "-g", "-O1", "-pthread", *flags, *more, "-o", path, SOURCE)
        built[way, more] = path
    return built[way, more]


class Program(Live):
    """The program, which answers a number when it has called asked() that often."""

    def __init__(self, *arguments, path=None, prefix=(), **env):
        self.process = start(*prefix, path or compiled(), *arguments, stdin=subprocess.PIPE, env=environment(**env))
        self.pid = self.process.pid
        self.heard()

    def heard(self):
        equal(self.process.stdout.readline(), b"done\n", "answer of the program")

    def asked(self, count):
        self.tell(str(count))
        self.heard()

    def finished(self):
        self.process.stdin.close()
        equal(self.process.wait(), 0, f"status of the program ({self.process.stderr.read()[:300]})")


class Attached:
    """burin record --calls, from when functions are patched until it is asked to end."""

    def __init__(self, *options, target):
        self.path = fresh()
        self.process = start(BURIN, "record", "-o", self.path, *options, *target)
        self.said = b""
        while b"are recorded" not in self.said and b"is recorded" not in self.said:
            line = self.process.stderr.readline()
            check(line, f"the recorder has ended: {self.said!r}" if not line else "")
            self.said += line

    def end(self):
        """The calls: {function: count}."""
        self.process.send_signal(signal.SIGINT)
        self.said += self.process.stderr.read()
        equal(self.process.wait(), 0, f"status of the recorder ({self.said})")
        check(b"stood still" in self.said, f"no longest stop: {self.said}")
        equal(run(BURIN, "check", self.path).status, 0, "burin check")
        return collections.Counter(event["fields"]["function"].split("(")[0] for event in dump(self.path) if event["event"] == "burin.call")


def by_pid(program):
    return "-p", program.pid


def check_exact(program, target, count=3000):
    recorder = Attached("--calls=asked", target=target)
    program.asked(count)
    equal(recorder.end(), {"asked": count}, "calls")
    return recorder.said.decode()

# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How busy the machine is: for tests/run, which begins more tests on an idle one, and waits longer on a busy one."""
import os
import threading
import time


class Idle:
    """How many CPUs were idle lately."""

    def __init__(self):
        self.since, self.ticks = time.monotonic(), self.read()

    @staticmethod
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            return sum(map(int, file.readline().split()[4:6]))  # idle, and waiting for a disk

    def cpus(self):
        """Of the last second; a test that begins then counts from the next one on."""
        now = time.monotonic()
        if now - self.since < 1:
            return 0.0
        ticks = self.read()
        idle = (ticks - self.ticks) / os.sysconf("SC_CLK_TCK") / (now - self.since)
        self.since, self.ticks = now, ticks
        return idle


def share():
    """Which part of a CPU a thread gets that wants one: 1 if not more threads run than there are CPUs."""
    with open("/proc/loadavg", encoding="ascii") as file:
        runs = int(file.read().split()[3].split("/")[0])
    return min(1.0, len(os.sched_getaffinity(0)) / max(runs, 1))


class Patience:
    """So many seconds in which a process could have had a whole CPU; beside others that compute, a second counts in part."""

    def __init__(self, seconds):
        self.left, self.since = seconds, time.monotonic()

    def over(self):
        """To be asked every second or so."""
        now = time.monotonic()
        self.left -= (now - self.since) * share()
        self.since = now
        return self.left < 0


class Limit:
    """Calls a function when the patience with a test is over."""

    def __init__(self, seconds, function):
        self.ended, self.passed = threading.Event(), False
        self.thread = threading.Thread(target=self.wait, args=(seconds, function), daemon=True)
        self.thread.start()

    def wait(self, seconds, function):
        patience = Patience(seconds)
        while not self.ended.wait(min(1.0, seconds)):
            if patience.over():
                self.passed = True
                function()
                return

    def end(self):
        """Return: whether the limit had passed."""
        self.ended.set()
        self.thread.join()
        return self.passed

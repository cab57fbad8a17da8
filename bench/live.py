# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Rows of bench/run about programs that run: what it costs to be traceable, and to be looked at meanwhile."""
import json
import os
import re
import shutil
import statistics
import subprocess
import time

from common import BLOCKS, PACE, QUICK, ROUNDS, Failed, call, disturbed, values

SESSIONS = f"/dev/shm/burin-{os.geteuid()}"


def sessions_of(pid):
    """The session files that a process has made: of itself `PID.START`, as a recorder `PID-RANDOM`."""
    names = os.listdir(SESSIONS) if os.path.isdir(SESSIONS) else []
    return [os.path.join(SESSIONS, name) for name in names if re.match(rf"{pid}[-.]", name)]


def memory_of(path):
    return os.stat(path).st_blocks * 512


def smaps(pid, *keys):
    """KiB."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        text = file.read()
    return [int(re.search(rf"^{key}:\s+(\d+) kB", text, re.M).group(1)) for key in keys]


def blocked(pid):
    """How often a process has waited for something, ever."""
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M).group(1))


def processor_time(pid):
    """ns, of the process and its children that have ended."""
    with open(f"/proc/{pid}/schedstat") as file:
        own = int(file.read().split()[0])
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[13:15]
    return own + (int(user) + int(system)) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def real_time():
    """What gives a command the priority of real time, if that is permitted."""
    prefix = ["chrt", "-f", "10"]
    return prefix if subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL).returncode == 0 else []


class Waiting:
    """A program that says `ready` and goes on when its input ends. What it prints is in `out` then."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(list(map(str, command)), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.pid, self.out = self.process.pid, ""

    def __enter__(self):
        for line in self.process.stdout:
            self.out += line
            if line == "ready\n":
                return self
        raise Failed("the program ended too early")

    def __exit__(self, *_):
        self.out += self.process.communicate()[0]


class Live:
    def begin_program(self, name):
        return os.path.join(self.build, "bench", name)

    def row_begin(self):
        programs, times = [self.begin_program("begin"), self.begin_program("begin-bare")], ([], [])
        for _ in range(50 if QUICK else 500):
            for path, taken in zip(programs, times):
                begin = time.monotonic_ns()
                status = os.waitpid(os.posix_spawn(path, [path], os.environ), 0)[1]
                taken.append((time.monotonic_ns() - begin) / 1e6)
                if status:
                    raise Failed(f"{path} failed")
        with Waiting([programs[0], "wait"]) as program:
            files, threads = sessions_of(program.pid), len(os.listdir(f"/proc/{program.pid}/task"))
            size = sum(map(memory_of, files)) / 1024
        call([programs[0]])  # the next program that starts removes what this one left
        left = sessions_of(program.pid)
        with_it, without = map(statistics.median, times)
        above = with_it - without
        return (f"{with_it:.2f} ms; {len(files)} file of {size:.0f} KiB, {threads} thread", f"without Burin {without:.2f} ms",
                f"{above:+.2f} ms", above <= 1 and len(files) == 1 and not left and size <= 64 and threads == 1, above)

    def row_idle(self):
        """
        Resident, pages that others share included; Pss counts such a page as 1/n. How much of the C library the kernel maps
        around what is touched depends on where it lies, which is left to chance: hence the mean of many turns.
        """
        mine, theirs = [], []
        for _ in range(ROUNDS * 60):
            for program, sizes in (("begin", mine), ("begin-bare", theirs)):
                with Waiting([self.begin_program(program), "wait"]) as waiting:
                    sizes.append(smaps(waiting.pid, "Pss", "Pss_Dirty", "Rss"))
        mine, theirs = ([round(statistics.mean(column)) for column in zip(*sizes)] for sizes in (mine, theirs))
        above = [a - b for a, b in zip(mine, theirs)]
        return (f"{mine[2]} KiB", f"without Burin {theirs[2]} KiB", f"{above[2]:+} KiB (written to {above[1]:+}, Pss {above[0]:+})", above[2] <= 256, above[2])

    def row_own(self):
        runs = [values(call([self.event, "cost", str(BLOCKS), self.cpus[0]], env={**os.environ, "BURIN_ENABLE": "*"})) for _ in range(ROUNDS)]
        two, clock = (statistics.median(run[key] for run in runs) for key in ("two_ns", "clock_ns"))
        return f"{two:.1f} ns", f"clock read {clock:.1f} ns", f"{two / clock:.2f}x{disturbed(runs)}", two / clock <= 1.15, two / clock

    def row_where(self):
        """The first comparison holds, the second does not: both are looked at."""
        runs = []
        for _ in range(ROUNDS):
            with Waiting([self.event, "where", BLOCKS * 3, self.cpus[0]]) as program:
                call([self.burin, "enable", "-q", "-w", "a < 1000000 && b < 1000000", str(program.pid), "bench.two"])
            runs.append(values(program.out))
        if any(run.get("recorded") != 0 or run.get("on") != 1 for run in runs):
            raise Failed("the filter did not do its work")
        where, off = (statistics.median(run[key] for run in runs) for key in ("where_ns", "off_ns"))
        return f"{where:.1f} ns", f"event that is off {off:.2f} ns", f"{where - off:+.1f} ns{disturbed(runs)}", where - off <= 5, where - off

    def row_switch(self):
        """The reader is `burin snapshot`; it is called again until it finds a record."""
        taken, trace = [], os.path.join(self.dir, "switch")
        for _ in range(2 * ROUNDS):
            with subprocess.Popen([self.event, "paced", str(PACE), str(PACE // 5), self.cpus[0]], stdout=subprocess.DEVNULL) as program:
                try:
                    time.sleep(0.1)
                    begin = time.monotonic_ns()
                    call([self.burin, "enable", "-q", str(program.pid), "bench.two"])
                    enabled, records = time.monotonic_ns(), 0
                    while records == 0:
                        shutil.rmtree(trace, ignore_errors=True)
                        call([self.burin, "snapshot", "-q", "-o", trace, str(program.pid)])
                        end = time.monotonic_ns()
                        records = self.info("switch")["records"]
                    taken.append(((end - begin) / 1e6, (enabled - begin) / 1e6))
                finally:
                    program.terminate()  # the session stays, to be read: it goes below
            shutil.rmtree(trace)
            call([self.burin, "snapshot", "-q", "-o", trace, str(program.pid)])
            shutil.rmtree(trace)
        total, enable = (statistics.median(value) for value in zip(*taken))
        return f"{total:.1f} ms", f"of which `burin enable` {enable:.1f} ms", f"{total:.1f} ms, worst {max(taken)[0]:.1f}", total <= 50, total

    def row_snapshot(self):
        """By the writer's own count, in the time of each snapshot and right before it; also by its processor time, which does
        not see what others do to the machine. Who is blocked gives up its processor, and the kernel counts that."""
        count, path, snapshot = 3 if QUICK else 10, os.path.join(self.dir, "window"), os.path.join(self.dir, "snapshot")
        for old in (path, snapshot):
            shutil.rmtree(old, ignore_errors=True)
        writer, other = self.cpus[0], self.cpus[-1]
        record = subprocess.Popen(["taskset", "-c", other, self.burin, "record", "--no-samples", "-q", "-o", path, "--mode", "flight", "--buffer", "64M", "--",
                                   "taskset", "-c", writer, os.path.join(self.build, "bench", "window"), str(4 + count), writer],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        windows, waits = [], []
        time.sleep(3)
        session = sessions_of(record.pid)
        with open(f"/proc/{record.pid}/task/{record.pid}/children") as file:
            program = file.read().split()[0]
        for _ in range(count if session else 0):
            begin, before = time.monotonic_ns(), blocked(program)
            call(["taskset", "-c", other, self.burin, "snapshot", "-q", "-o", snapshot, session[0]])
            windows.append((begin, time.monotonic_ns()))
            waits.append(blocked(program) - before)
            shutil.rmtree(snapshot)
            time.sleep(0.3)
        blocks = [tuple(map(int, line.split())) for line in record.communicate()[0].splitlines()]
        shutil.rmtree(path, ignore_errors=True)
        if record.returncode != 0 or not windows:
            raise Failed("the writer failed")

        def rate(begin, end, clock):
            inside = [block for block in blocks if begin <= block[0] <= end]
            return (len(inside) - 1) / (inside[-1][clock] - inside[0][clock])

        slower = [statistics.median(1 - rate(b, e, clock) / rate(b - 220_000_000, b - 20_000_000, clock) for b, e in windows)
                  for clock in (0, 1)]
        took = statistics.median(e - b for b, e in windows) / 1e6
        return (f"{took:.0f} ms; the writer waited {sum(waits)} times in {count} snapshots", f"{100 * slower[1]:.1f} % slower by processor time",
                f"{100 * slower[0]:.1f} % slower", slower[0] <= 0.1 and sum(waits) == 0, slower[0])

    def row_top(self):
        """Its processor time between two of its screens, so without its start, and that of its children, which the kernel shows in hundredths
        of a second; and the program's own time for an event, with and without it, of its median turn of 100 events. The program has the
        priority of real time, so that others take less of its time."""
        seconds, shares, alone, beside, unread = 3 if QUICK else 10, [], [], [], 0
        steady = [*real_time(), "taskset", "-c", self.cpus[0], os.path.join(self.build, "tests", "programs", "steady"), "100000", str(seconds)]
        own = {**os.environ, "BURIN_ENABLE": "*"}
        for _ in range(ROUNDS):
            alone.append(int(call(steady, env=own)) / 100)
            with subprocess.Popen(steady, env=own, stdout=subprocess.PIPE, text=True) as program:
                time.sleep(0.1)
                with subprocess.Popen([self.burin, "top", "--json", str(program.pid)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as top:
                    seen = []
                    for line in top.stdout:
                        seen.append((time.monotonic_ns(), processor_time(top.pid)))
                        screen = json.loads(line)
                        unread += screen["written"] - screen["read"] if screen["sampled"] else 0
                beside.append(int(program.communicate()[0]) / 100)
            if len(seen) < 2:
                raise Failed("burin top printed too few screens")
            shares.append((seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0]))
        share, without, with_it = statistics.median(shares), statistics.median(alone), statistics.median(beside)
        return (f"{100 * share:.2f} % of a CPU, its children included; {unread:,} records only counted",
                f"an event takes the program {with_it:.1f} ns with it, {without:.1f} without ({min(alone):.1f} to {max(alone):.1f})",
                f"{100 * share:.2f} %, {100 * (with_it / without - 1):+.1f} % for the program", share <= 0.01 and with_it <= max(1.02 * without, max(alone)), share)

    def row_storm(self):
        """The processes live at the same time, and fill every ring that they may write."""
        buffer, count, path = 4 << 20, 100 if QUICK else 1000, os.path.join(self.dir, "storm")
        memory = {}
        for processes in (10, count):
            shutil.rmtree(path, ignore_errors=True)
            command = ["taskset", "-c", ",".join(self.cpus[:2]), self.burin, "record", "--no-samples", "-q", "-o", path, "--mode", "flight",
                       "--buffer", str(buffer), "--", self.event, "storm", 2_000_000 // processes, processes]
            with Waiting(command) as record:
                memory[processes] = sum(map(memory_of, sessions_of(record.pid)))
            out, info = values(record.out), self.info("storm")
            missing = out["emitted"] - info["records"] - info["lost_all"]
            if out["processes"] != processes or missing:
                raise Failed(f"{out['processes']:.0f} of {processes} processes; {missing:.0f} events missing")
        rings = len(self.cpus[:2]) * buffer
        locked, names = max(4, os.cpu_count()) * buffer, 32 * (16 << 10)
        return (f"{memory[count]:,} bytes", f"ten processes {memory[10]:,} bytes; rings of the CPUs {rings:,}, names {names:,}",
                f"{memory[count] / memory[10]:.2f}x ten", memory[count] <= rings + locked + names + (4 << 20), memory[count])

# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Rows of bench/run about samples: what they cost and what they show, beside perf.

Each tool is used as its manual recommends, with its default buffers. perf's recorder writes down what the kernel gives; ours
attributes and unwinds as well: the processor time of either counts in full.
"""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

from common import QUICK, ROUNDS, Failed, Skipped, call, values

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LARGE = ["/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "-Xcomp", "-version"]  # HotSpot: 160 MB of debug information
STORM = 200 if QUICK else 2000
PROCESSES = 500 if QUICK else 10_000
MILLION, MILLION_SECONDS = (50_000, 3) if QUICK else (1_000_000, 50)
SHARES = {"share_50": 50, "share_30": 30, "share_15": 15, "share_5": 5}


def spent(command):
    """Runs a command that must succeed. Returns what it printed, and the processor time, in ns, of it and all that it started."""
    with subprocess.Popen(command, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{os.path.basename(command[0])} failed: {out.strip()[-300:]}")
    return out, (usage.ru_utime + usage.ru_stime) * 1e9


class Samples:
    # ---- the two recorders

    def burin_samples(self, name, options, command):
        """Returns what the command printed, the processor time of all, and what the trace says of its samples."""
        path = os.path.join(self.dir, name)
        shutil.rmtree(path, ignore_errors=True)
        out, processor = spent([self.burin, "record", "-q", "-o", path, *options, "--", *command])
        if "no samples" in out:
            raise Skipped(out.strip())
        with open(os.path.join(path, ".burin", "profile"), encoding="utf-8") as file:
            said = dict(line.split("=", 1) for line in file.read().splitlines())
        return out, processor, {key: int(value) for key, value in said.items() if value.isdigit()}

    def perf(self, runner, command, name, *more):
        """perf on a file of ours. Debian 12's crashes every now and then over a build id, so it may try again; its own cache of
        them is left out, of recordings too: that is less to do for it."""
        if not shutil.which("perf"):
            raise Skipped("perf is not installed (apt install linux-perf)")
        file = ["-o" if command == "record" else "-i", os.path.join(self.dir, name)]
        for turn in range(3):
            try:
                return runner(["perf", "--buildid-dir", os.path.join(self.dir, "build-ids"), command, *file, *more])
            except Failed as reason:
                if turn == 2 or "assertion failed" not in str(reason) and "smashing" not in str(reason):
                    raise

    def perf_samples(self, name, options, command):
        return self.perf(spent, "record", name, "-q", "-B", "-e", "cpu-clock", *options, "--", *command)

    def perf_count(self, name):
        """Samples in perf's file, and how many of them it says were lost."""
        stats = self.perf(call, "report", name, "--stats")
        count = {key: int(number) for key, number in reversed(re.findall(r"^ *(\w+) events: +(\d+)", stats, re.M))}  # the sums come first
        return count.get("SAMPLE", 0), count.get("LOST", 0) + count.get("LOST_SAMPLES", 0)

    def size(self, name):
        """Bytes of a file, or of all files of a directory."""
        path = os.path.join(self.dir, name)
        return os.path.getsize(path) if os.path.isfile(path) else sum(
            os.path.getsize(os.path.join(place, file)) for place, _, files in os.walk(path) for file in files)

    # ---- what a sample costs

    def sample_costs(self, hz, ours, theirs):
        """
        Microseconds a sample above the bare timer interrupt: in the program, and of the recorder from its beginning to its end,
        without names, which perf finds when its file is read. The program's part is less than what a processor's speed wanders
        by within seconds: so it comes of many short turns, of which the faster halves are compared. The recorder's is of ten
        seconds, so that it is what recording costs, and not beginning.
        """
        work = [os.path.join(self.build, "bench", "work"), "deep"]
        short, long = ([*work, blocks, self.cpus[-1]] for blocks in (("10", "30") if QUICK else ("50", "600")))
        recorders = [lambda work: self.burin_samples("cost", ["-F", str(hz), "--no-symbols", *ours], work)[:2],
                     lambda work: self.perf_samples("cost.perf", ["-F", str(hz), *theirs], work)]
        blocks, recorded = [], []
        for _ in range(ROUNDS if QUICK else ROUNDS * 8):
            blocks.append([values(call([*short, *more]))["block_ns"] for more in ([], [str(hz)])] +
                          [values(record(short)[0])["block_ns"] for record in recorders])
        for _ in range(ROUNDS):
            recorded.append([(processor / values(out)["process_ns"] - 1) * 1e6 / hz for out, processor in (record(long) for record in recorders)])
        free, bare, *under = (statistics.mean(sorted(column)[:(len(column) + 1) // 2]) for column in zip(*blocks))
        return [((free / bare - free / block) * 1e6 / hz, statistics.median(column)) for block, column in zip(under, zip(*recorded))]

    def row_sample(self):
        ours, theirs = self.sample_costs(10_000, ["--call-graph", "fp"], ["--call-graph", "fp"])
        return (f"{ours[0]:.1f} + {ours[1]:.1f} us", f"perf {theirs[0]:.1f} + {theirs[1]:.1f} us", f"{sum(ours):.1f} us, perf {sum(theirs):.1f}",
                sum(ours) <= min(5, sum(theirs)), sum(ours))

    def row_unwind(self):
        ours, theirs = ([us * 997 / 1e4 for us in cost] for cost in self.sample_costs(997, [], ["--call-graph", "dwarf"]))
        return (f"{ours[0]:.2f} + {ours[1]:.2f} %", f"perf {theirs[0]:.2f} + {theirs[1]:.2f} %, nothing unwound yet",
                f"{sum(ours):.2f} % of a CPU, perf {sum(theirs):.2f}", sum(ours) <= min(2, sum(theirs)), sum(ours))

    # ---- a real load: this source, built from nothing

    def building(self, seconds):
        """A command that builds for so long."""
        tree = os.path.join(self.dir, "tree")
        if not os.path.exists(os.path.join(tree, "build.ninja")):
            call(["env", "-u", "CC", "-u", "CXX", "meson", "setup", tree, TOP])
        return ["env", "CCACHE_DISABLE=1", "sh", "-c", f"timeout {seconds} sh -c 'while ninja -C {tree} -t clean && ninja -C {tree}; do :; done'; test $? = 124"]

    def row_sizes(self):
        _, _, said = self.burin_samples("sizes", [], self.building(5 if QUICK else 60))
        each, peers = self.size("sizes") / said["attributed"], []
        for graph in ("fp", "dwarf"):
            self.perf_samples("sizes.perf", ["-F", "997", "--call-graph", graph], self.building(3 if QUICK else 15))
            peers.append(self.size("sizes.perf") / self.perf_count("sizes.perf")[0])
            os.remove(os.path.join(self.dir, "sizes.perf"))
        return (f"{said['attributed']:,} samples, {self.size('sizes') / 1e6:.1f} MB, names included", f"perf {peers[0]:.0f} with frame pointers, {peers[1]:.0f} with DWARF",
                f"{each:.1f} bytes", each <= 40, each)

    def million(self):
        """A recording of a million samples or more, of all that runs, made once."""
        if not hasattr(self, "samples"):
            self.million_options = ["-a", "-F", "20000", "--call-graph", "fp"]
            self.samples = self.burin_samples("million", self.million_options, self.building(MILLION_SECONDS))[2]["attributed"]
        if self.samples < MILLION:
            raise Failed(f"only {self.samples:,} samples in {MILLION_SECONDS} s")
        return os.path.join(self.dir, "million"), self.samples

    # ---- continuous use

    def recorder(self, command, seconds):
        """A recorder that is interrupted after so long. Returns its processor time, in s: in that time, and before and after it."""
        def ran():
            with open(f"/proc/{process.pid}/schedstat", encoding="ascii") as file:
                return int(file.read().split()[0]) / 1e9

        with open(os.path.join(self.dir, "said"), "ab") as said, \
                subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said) as process:
            time.sleep(2)
            try:
                begin = ran()
                time.sleep(seconds)
                lasting = ran() - begin
            except FileNotFoundError:
                raise Failed(f"{command[0]} ended early")
            process.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return lasting, usage.ru_utime + usage.ru_stime - lasting

    def row_always(self):
        """Both recorders at once, beside a build by all CPUs. What a recorder does once, names included, counts as spread over an hour."""
        if not shutil.which("perf"):
            raise Skipped("perf is not installed (apt install linux-perf)")
        seconds = 20 if QUICK else 300
        path, peer = (os.path.join(self.dir, name) for name in ("continuous", "continuous.perf"))
        shutil.rmtree(path, ignore_errors=True)
        commands = ([self.burin, "record", "-q", "-a", "-F", "19", "--split", "1h", "--keep", "24", "-o", path],
                    ["perf", "record", "-q", "-B", "-a", "-F", "19", "-e", "cpu-clock", "-g", "--switch-output=1h", "-o", peer])
        load = self.building(seconds + 60)
        with subprocess.Popen(load, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as build, \
                concurrent.futures.ThreadPoolExecutor() as threads:
            results = list(threads.map(lambda command: self.recorder(command, seconds), commands))
            os.killpg(build.pid, signal.SIGTERM)
        share, theirs = (100 * (lasting / seconds + once / 3600) for lasting, once in results)
        with open(os.path.join(path, "0001", ".burin", "profile"), encoding="utf-8") as file:
            said = {key: int(value) for key, value in (line.split("=", 1) for line in file.read().splitlines()) if value.isdigit()}
        each = self.size("continuous/0001") / seconds / 1000
        names = self.size("continuous/0001/.burin/symbols") / 1000
        lost = said["received"] - said["attributed"]
        bytes_of_perf = sum(self.size(name) for name in os.listdir(self.dir) if name.startswith("continuous.perf"))
        return (f"{share:.2f} % of a CPU ({results[0][1]:.2f} s of it once an hour), {each:.2f} KB/s, of which names {names / seconds:.2f}; {said['received']:,} samples",
                f"perf {theirs:.2f} %, without names; {bytes_of_perf / seconds / 1000:.2f} KB/s", f"{share:.2f} %, {each:.2f} KB/s, {lost} lost",
                share <= 0.3 and each <= 1.5 and not lost, share)

    def row_report(self):
        path, samples = self.million()
        ours = statistics.median(self.timed([self.burin, "report", path]) for _ in range(ROUNDS))
        beside, faster = "", ""
        try:
            self.perf_samples("million.perf", self.million_options, self.building(MILLION_SECONDS))
            theirs = self.timed(["perf", "report", "--stdio", "-g", "none", "-i", os.path.join(self.dir, "million.perf")])
            count = self.perf_count("million.perf")[0]
            beside, faster = f"perf {theirs:.1f} s for {count:,}", f", {theirs / count * samples / ours:.0f}x faster"
        except (Failed, Skipped) as reason:
            self.alone("perf")
            beside = f"no figure of perf's: {str(reason).splitlines()[-1]}"
        return f"{ours:.2f} s for {samples:,}", beside, f"{ours * 1e6 / samples:.2f} s a million{faster}", ours <= max(1, samples / 1e6), ours

    def row_flame(self):
        path, samples = self.million()
        page = os.path.join(self.dir, "million.html")
        made = self.timed([self.burin, "flame", "-o", page, path])
        sys.path.append(os.path.join(TOP, "tests", "harness"))
        from browser import CHROMIUM, Browser
        if not CHROMIUM:
            raise Skipped("chromium is not installed (apt install chromium)")
        browser = Browser()
        try:
            opened = statistics.median(browser.open(page) for _ in range(3))
        finally:
            browser.close()
        size = os.path.getsize(page)
        return (f"{size / 1e6:.2f} MB, opens in {opened:.2f} s", "perf needs a template from elsewhere", f"made of {samples:,} in {made:.2f} s",
                size <= 5e6 and opened <= 2, opened)

    # ---- names

    def row_names(self):
        """perf finds inlined functions when it unwinds by tables, and when its file is read, each time again. Some 1,500 samples: a
        small profile, since perf takes its time for each, and is stopped when it is clear that it took 21 times as long."""
        debug = re.search(r"Build ID: (\w\w)(\w+)", call(["readelf", "-n", os.path.join(os.path.dirname(LARGE[0]), "../lib/server/libjvm.so")])) \
            if os.path.exists(LARGE[0]) else None
        if not debug or not os.path.exists(f"/usr/lib/debug/.build-id/{debug[1]}/{debug[2]}.debug"):
            raise Skipped("no large program with debug information (apt install openjdk-17-jre-headless openjdk-17-dbg)")
        _, _, said = self.burin_samples("names", ["--no-symbols", "-F", "1997"], LARGE)
        path, peer = (os.path.join(self.dir, name) for name in ("names", "names.perf"))
        ours = statistics.median(self.timed([self.burin, "symbols", "-q", path]) for _ in range(3))
        self.perf_samples("names.perf", ["-F", "1997", "--call-graph", "dwarf"], LARGE)
        limit, text = int(max(60, 21 * ours)), os.path.join(self.dir, "names.text")
        begin = time.monotonic()
        with open(text, "wb") as out:
            stopped = subprocess.run(["timeout", str(limit), "perf", "script", "-i", peer], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.DEVNULL).returncode == 124
        theirs, count = time.monotonic() - begin, self.perf_count("names.perf")[0]
        with open(text, encoding="utf-8", errors="replace") as file:
            done = sum("cpu-clock" in line for line in file)
        beside = f"perf script {'stopped after' if stopped else 'took'} {theirs:.0f} s, {done:,} of {count:,} samples"
        return (f"{ours:.1f} s for {said['attributed']:,} samples", beside, f"{'more than ' if stopped else ''}{theirs / ours:.0f}x faster",
                theirs / ours >= 20 or ours <= 2, ours)

    # ---- truth

    def row_execs(self):
        """Short processes, one after the other."""
        command = ["sh", "-c", f"n=0; while [ $n -lt {STORM} ]; do /bin/true; n=$((n + 1)); done"]
        _, _, said = self.burin_samples("execs", ["-F", "10000"], command)
        lost = {key[5:]: number for key, number in said.items() if key.startswith("lost.") and number}
        unclassified = said["received"] - said["attributed"] - sum(lost.values())
        self.perf_samples("execs.perf", ["-F", "10000", "--call-graph", "fp"], command)
        count, dropped = self.perf_count("execs.perf")
        share = 100 * sum(lost.values()) / said["received"]
        return (f"{said['received']:,} received = {said['attributed']:,} + " + (", ".join(f"{n:,} {cause}" for cause, n in lost.items()) or "0 lost"),
                f"perf {count:,}, times that it lost some: {dropped:,}", f"{unclassified} unclassified, {share:.3f} % lost", unclassified == 0 and share <= 0.1, share)

    # ---- tasks that are shorter than a period

    def brief(self, name, command):
        """
        Elapsed seconds of a recording without names, and the part of the processor time that has no sample; beside perf's, in turns.
        perf's part is of what the kernel counted in our turn, since perf does not count.
        """
        elapsed, without, period = ([], []), ([], []), 1e9 / 997
        for _ in range(ROUNDS):
            begin = time.monotonic()
            said = self.burin_samples(name, ["--no-symbols"], command)[2]
            elapsed[0].append(time.monotonic() - begin)
            begin = time.monotonic()
            self.perf_samples(name + ".perf", ["-F", "997", "-g"], command)
            elapsed[1].append(time.monotonic() - begin)
            for part, samples in zip(without, (said["received"], sum(self.perf_count(name + ".perf")))):
                part.append(100 * max(0, 1 - samples * period / said["counted"]))
        (ours, theirs), (missing, beside) = ([statistics.median(column) for column in both] for both in (elapsed, without))
        return (f"{ours:.2f} s, {missing:.1f} %", f"perf {theirs:.2f} s, {beside:.1f} %",
                f"{missing:.1f} % without sample, {ours / theirs:.2f}x perf's time", missing <= 2 and ours <= theirs, missing)

    def row_threads(self):
        return self.brief("threads", [os.path.join(self.build, "bench", "work"), "threads", "500" if QUICK else "5000", "400"])

    def row_processes(self):
        return self.brief("processes", ["sh", "-c", f"n=0; while [ $n -lt {PROCESSES} ]; do /bin/true; n=$((n + 1)); done"])

    def row_shares(self):
        command = [os.path.join(self.build, "bench", "work"), "shares", "2000" if QUICK else "10000"]
        found, worst = [], []

        def off(out, shares):
            units = values(out)
            found.append(" ".join(f"{shares.get(name, 0):.1f}" for name in SHARES))
            worst.append(max(abs(shares.get(name, 0) - 100 * units[name] / sum(units.values())) for name in SHARES))

        out = self.burin_samples("shares", [], command)[0]
        report = json.loads(call([self.burin, "report", "--json", "--by", "symbol", os.path.join(self.dir, "shares")]))
        off(out, {row["symbol"]: 100 * row["self_ns"] / report["weight_ns"] for row in report["rows"]})
        out = self.perf_samples("shares.perf", ["-F", "997", "--call-graph", "fp"], command)[0]
        report = self.perf(call, "report", "shares.perf", "--stdio", "--no-children", "-g", "none", "-F", "overhead,sym")
        off(out, {name: float(share) for share, name in re.findall(r"^ *([0-9.]+)% +\[\.\] (\w+)", report, re.M)})
        return f"{found[0]} %", f"perf {found[1]} %", f"off by {worst[0]:.2f} points at most, perf {worst[1]:.2f}", worst[0] <= 2, worst[0]

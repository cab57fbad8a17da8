# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The rows of recorded calls, for bench/run."""
import os
import re
import shutil
import statistics
import subprocess
import time

from common import BLOCKS, QUICK, ROUNDS, Failed, Skipped, call, disturbed, first_line, values


# Beside peers: several laps of our ring. In the first one the kernel gives it memory, which costs 10 to 20 ns a call.
PEER_BLOCKS = str(min(BLOCKS, 301))
CALLS = int(os.environ.get("BENCH_CALLS", "1000000" if QUICK else "10000000"))  # of the traces that are reported on


class Calls:
    def hooked(self, hooks, *arguments, options=("--mode", "flight")):
        """Records the program with these hooks. Returns what it printed."""
        program = self.calls_program(hooks)
        shutil.rmtree(self.trace_dir, ignore_errors=True)
        out = values(call([self.burin, "record", "--calls", "-q", "-o", self.trace_dir, *options, "--", program, *map(str, arguments)]))
        out["records"] = self.info("trace")["records"]
        shutil.rmtree(self.trace_dir)
        return out

    def calls_program(self, hooks):
        program = os.path.join(self.build, "bench", "calls-" + hooks)
        if not os.access(program, os.X_OK):
            raise Skipped(f"{program} is not built: the compiler cannot leave these hooks")
        return program

    def call_costs(self, hooks, shape="cost"):
        """In turns: recorded, not traced at all, and the hooks alone (the C library has empty ones)."""
        runs, bare = [], []
        for _ in range(ROUNDS):
            runs.append(self.hooked(hooks, shape, BLOCKS, self.cpus[0]))
            bare.append(values(call([self.calls_program(hooks), shape, str(BLOCKS), self.cpus[0]])))
        if min(run["records"] for run in runs) < 1000:
            raise Failed("the calls were not recorded")
        return runs, bare

    def call_row(self, hooks, limit, shape="cost"):
        runs, bare = self.call_costs(hooks, shape)
        ours, clocks = (statistics.median(run[key] for run in runs) for key in ("call_ns", "clocks_ns"))
        empty = statistics.median(run["call_ns"] for run in bare)
        ratio = statistics.median(run["call_ns"] / run["clocks_ns"] for run in runs)
        return (f"{ours:.1f} ns", f"two clock reads {clocks:.1f} ns; untraced {empty:.1f} ns", f"{ratio:.2f}x{disturbed(runs)}", ratio <= limit,
                ratio)

    def row_calls(self):
        return self.call_row("instrument", 1.08)

    def row_patched(self):
        return self.call_row("patchable", 1.08)

    def row_callnest(self):
        return self.call_row("patchable", 1.08, "nest")

    def row_calldeep(self):
        return self.call_row("patchable", 1.08, "deep")

    def paused(self, hooks):
        """Records the program, and pauses before the calls. Returns what it printed."""
        shutil.rmtree(self.trace_dir, ignore_errors=True)
        recorder = subprocess.Popen([self.burin, "record", "--calls", "-q", "-o", self.trace_dir, "--", self.calls_program(hooks), "wait", str(BLOCKS),
                                     self.cpus[0]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 20
            while subprocess.run([self.burin, "pause", str(recorder.pid)], capture_output=True).returncode != 0:
                if time.monotonic() > deadline:
                    raise Failed("burin pause did not find the recording")
                time.sleep(0.05)
            out, _ = recorder.communicate("\n", timeout=600)
        finally:
            recorder.kill()
            recorder.wait()
        if self.info("trace")["records"]:
            raise Failed("calls were recorded during the pause")
        shutil.rmtree(self.trace_dir)
        return values(out)

    def off_row(self, hooks, limit, run):
        """Beside the hooks of an untraced program, in turns: empty ones of the C library, or NOPs."""
        runs, bare = [], []
        for _ in range(ROUNDS):
            runs.append(run())
            bare.append(values(call([self.calls_program(hooks), "cost", str(BLOCKS), self.cpus[0]])))
        off, empty = (statistics.median(run["call_ns"] for run in some) for some in (runs, bare))
        return f"{off:.2f} ns", f"untraced {empty:.2f} ns", f"{off - empty:+.2f} ns{disturbed(runs)}", off - empty <= limit, off - empty

    def row_uncalled(self):
        return self.off_row("instrument", 1.5, lambda: self.paused("instrument"))

    def row_unpatched(self):
        return self.off_row("patchable", 1.5, lambda: self.paused("patchable"))

    def without(self, hooks):
        return self.hooked(hooks, "cost", BLOCKS, self.cpus[0], options=("--no-calls", "leaf"))

    def row_callskip(self):
        return self.off_row("instrument", 0.3, lambda: self.without("instrument"))

    def row_patchskip(self):
        return self.off_row("patchable", 0.3, lambda: self.without("patchable"))

    def beside_row(self, limit, *options):
        """What an option costs beside plain recording, in turns. The small buffer stays in the cache, which others do not disturb."""
        small = ("--mode", "flight", "--buffer", "256K")
        runs, plain = [], []
        for _ in range(ROUNDS):
            runs.append(self.hooked("patchable", "cost", BLOCKS, self.cpus[0], options=(*small, *options)))
            plain.append(self.hooked("patchable", "cost", BLOCKS, self.cpus[0], options=small))
        mine, other = (statistics.median(run["call_ns"] for run in some) for some in (runs, plain))
        return f"{mine:.1f} ns", f"recorded {other:.1f} ns", f"{mine / other:.2f}x{disturbed(runs)}", mine / other <= limit, mine / other

    def row_callcount(self):
        return self.beside_row(0.5, "--count-calls")

    def row_calldepth(self):
        return self.beside_row(1.1, "--depth", "9")

    def row_callmin(self):
        return self.beside_row(1.1, "--min", "1h")

    def row_callcpus(self):
        if len(self.cpus) < 2:
            raise Skipped("this machine has one CPU only")
        runs = [self.hooked("instrument", "pair", BLOCKS, *self.cpus[:2]) for _ in range(ROUNDS)]
        alone, together = (statistics.median(run[key] for run in runs) for key in ("alone_ns", "together_ns"))
        ratio = statistics.median(run["together_ns"] / run["alone_ns"] for run in runs)
        return f"{together:.1f} ns each", f"alone {alone:.1f} ns", f"{ratio:.2f}x", ratio <= 1.05, ratio

    def row_callbytes(self):
        calls = 2_000_000
        shutil.rmtree(self.trace_dir, ignore_errors=True)
        call([self.burin, "record", "--calls", "-q", "--buffer", "64M", "-o", self.trace_dir, "--", self.calls_program("instrument"), "count",
              str(calls), self.cpus[0]])
        info = self.info("trace")
        shutil.rmtree(self.trace_dir)
        stride = sum(ring["size_bytes"] for ring in info["rings"]) / info["records"]
        return f"{stride:.2f} bytes", f"{info['records']:,} records, {info['lost_all']:,} lost", f"{stride:.2f}", stride <= 24.1, stride

    def peer_row(self, hooks, name, peer, factor):
        """Beside a peer, in turns. What both add to the untraced program counts. @peer: runs it, returns ns a call"""
        program, ours, theirs = self.calls_program(hooks), [], []
        for _ in range(ROUNDS):
            bare = values(call([program, "cost", PEER_BLOCKS, self.cpus[0]]))["bare_ns"]
            ours.append(self.hooked(hooks, "cost", PEER_BLOCKS, self.cpus[0])["call_ns"] - bare)
            theirs.append(peer(program) - bare)
        mine, other = statistics.median(ours), statistics.median(theirs)
        return f"+{mine:.1f} ns", f"{name} +{other:.1f} ns", f"{other / mine:.1f}x cheaper", other / mine >= factor, other / mine

    def row_uftrace(self):
        if not shutil.which("uftrace"):
            raise Skipped("uftrace is not installed (apt install uftrace)")

        def run(program):
            shutil.rmtree(self.trace_dir, ignore_errors=True)
            out = values(call(["uftrace", "record", "--no-libcall", "-P", ".", "-d", self.trace_dir, program, "cost", PEER_BLOCKS, self.cpus[0]]))
            shutil.rmtree(self.trace_dir)
            return out["call_ns"]

        return self.peer_row("patchable", first_line(["uftrace", "--version"]).split(" (")[0], run, 8)

    def row_callreport(self):
        """Each reads what it recorded of the same program, in turns. The time for a call that is in the trace counts."""
        if not shutil.which("uftrace"):
            raise Skipped("uftrace is not installed (apt install uftrace)")
        calls, theirs_dir = CALLS, self.trace_dir + ".uftrace"
        program = self.calls_program("patchable")
        for path in (self.trace_dir, theirs_dir):
            shutil.rmtree(path, ignore_errors=True)
        call([self.burin, "record", "--calls", "--no-samples", "-q", "--buffer", "512M", "-o", self.trace_dir, "--", program, "count", str(calls), self.cpus[0]])
        call(["uftrace", "record", "--no-libcall", "--no-event", "-P", ".", "-b", "4M", "-d", theirs_dir, program, "count", str(calls), self.cpus[0]])

        def timed(command, pattern):
            begin = time.monotonic()
            out = call(command)
            passed = time.monotonic() - begin
            return passed * 1e9 / sum(int(n.replace(",", "")) for n in re.findall(pattern, out, re.M))

        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(timed([self.burin, "report", "--calls", self.trace_dir], r"^([0-9,]+) calls? in"))
            theirs.append(timed(["uftrace", "report", "-d", theirs_dir], r" ([0-9]+)  leaf"))
        for path in (self.trace_dir, theirs_dir):
            shutil.rmtree(path)
        mine, other = min(ours), min(theirs)
        return f"{mine:.0f} ns a call", f"uftrace {other:.0f} ns a call", f"{other / mine:.1f}x faster", other / mine >= 5, other / mine

    def row_replay(self):
        """Each prints what it recorded of the same program, in turns."""
        if not shutil.which("uftrace"):
            raise Skipped("uftrace is not installed (apt install uftrace)")
        count, theirs_dir = CALLS // 4, self.trace_dir + ".uftrace"
        program = self.calls_program("patchable")
        for path in (self.trace_dir, theirs_dir):
            shutil.rmtree(path, ignore_errors=True)
        call([self.burin, "record", "--calls", "--no-samples", "-q", "--buffer", "512M", "-o", self.trace_dir, "--", program, "count", str(count), self.cpus[0]])
        call(["uftrace", "record", "--no-libcall", "--no-event", "-P", ".", "-b", "4M", "-d", theirs_dir, program, "count", str(count), self.cpus[0]])
        printed = sum(int(n.replace(",", "")) for n in re.findall(r" ([0-9]+)  leaf", call(["uftrace", "report", "-d", theirs_dir])))
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(self.timed([self.burin, "replay", self.trace_dir]) * 1e9 / self.info("trace")["records"])
            theirs.append(self.timed(["uftrace", "replay", "-d", theirs_dir]) * 1e9 / printed)
        for path in (self.trace_dir, theirs_dir):
            shutil.rmtree(path)
        mine, other = min(ours), min(theirs)
        return f"{mine:.0f} ns a call", f"uftrace {other:.0f} ns a call", f"{other / mine:.1f}x faster", other / mine >= 2, other / mine

    def row_exportuftrace(self):
        """No peer does this. The time for a call that is in the trace counts."""
        exported, ours = self.trace_dir + ".uftrace", []
        for path in (self.trace_dir, exported):
            shutil.rmtree(path, ignore_errors=True)
        call([self.burin, "record", "--calls", "--no-samples", "-q", "--buffer", "512M", "-o", self.trace_dir, "--", self.calls_program("patchable"), "count",
              str(CALLS // 4), self.cpus[0]])
        for _ in range(ROUNDS):
            ours.append(self.timed([self.burin, "export", "uftrace", self.trace_dir, "-o", exported]) * 1e9 / self.info("trace")["records"])
            shutil.rmtree(exported)
        shutil.rmtree(self.trace_dir)
        mine = min(ours)
        return f"{mine:.0f} ns a call", "", f"{mine:.0f} ns", True, mine

    def row_xray(self):
        """clang's runtime in flight-recorder mode, beside ours with patched entries in a program that differs in nothing else."""
        clang, program = shutil.which("clang"), os.path.join(self.dir, "calls-xray")
        sources = os.path.join(os.path.dirname(os.path.abspath(__file__)))
        if not clang:
            raise Skipped("clang is not installed (apt install clang)")
        flags = ["-O2", "-D_GNU_SOURCE", "-pthread", "-falign-functions=64"]
        leaf = os.path.join(self.dir, "calls-xray-leaf.o")
        bare = os.path.join(self.dir, "calls-xray-bare.o")
        try:
            call([clang, *flags, "-fxray-instrument", "-fxray-instruction-threshold=1", "-DNAME=leaf", "-c", os.path.join(sources, "calls-leaf.c"), "-o", leaf])
            call([clang, *flags, "-DNAME=bare", "-c", os.path.join(sources, "calls-leaf.c"), "-o", bare])
            call([clang, *flags, "-fxray-instrument", "-fxray-instruction-threshold=100000", os.path.join(sources, "calls.c"), leaf, bare, "-o", program])
        except Failed as reason:
            raise Skipped(f"clang cannot build with XRay: {reason}") from reason
        env = {**os.environ, "XRAY_OPTIONS": f"patch_premain=true xray_mode=xray-fdr verbosity=0 xray_logfile_base={self.dir}/xray."}

        def run(_):
            return values(call([program, "cost", PEER_BLOCKS, self.cpus[0]], env=env))["call_ns"]

        try:
            return self.peer_row("patchable", "XRay (fdr)", run, 5)
        finally:
            for name in os.listdir(self.dir):
                if name.startswith("xray."):
                    os.unlink(os.path.join(self.dir, name))


CALL_ROWS = {
    "calls": ("call by -finstrument-functions, begin and end", "burin record --calls --mode flight -- bench/calls-instrument cost",
              f"median of {ROUNDS}", "<= 1.08x two clock reads"),
    "patched": ("call by a patched entry", "burin record --calls --mode flight -- bench/calls-patchable cost", f"median of {ROUNDS}",
                "<= 1.08x two clock reads"),
    "callnest": ("the same, a function that makes four calls, for one call", "... bench/calls-patchable nest", f"median of {ROUNDS}", "<= 1.08x two clock reads"),
    "calldeep": ("the same, a recursion of 50 calls, for one call", "... bench/calls-patchable deep", f"median of {ROUNDS}", "<= 1.08x two clock reads"),
    "callcount": ("a call that is only counted", "burin record --count-calls --mode flight --buffer 256K -- bench/calls-patchable cost", f"median of {ROUNDS}",
                  "<= 0.5x one that is recorded"),
    "calldepth": ("a call under --depth", "burin record --calls --depth 9 --mode flight --buffer 256K -- bench/calls-patchable cost", f"median of {ROUNDS}",
                  "<= 1.1x one without"),
    "callmin": ("a call that --min leaves out", "burin record --calls --min 1h --mode flight --buffer 256K -- bench/calls-patchable cost", f"median of {ROUNDS}",
                "<= 1.1x one that is recorded"),
    "uncalled": ("hooks of -finstrument-functions during a pause", "burin record --calls -- bench/calls-instrument wait; burin pause", f"median of {ROUNDS}",
                 "<= 1.5 ns above empty hooks"),
    "unpatched": ("patched entries during a pause", "burin record --calls -- bench/calls-patchable wait; burin pause", f"median of {ROUNDS}",
                  "<= 1.5 ns above NOPs"),
    "callskip": ("hooks of -finstrument-functions that are not selected", "burin record --calls --no-calls leaf -- bench/calls-instrument cost",
                 f"median of {ROUNDS}", "<= 0.3 ns above empty hooks"),
    "patchskip": ("patched entries that are not selected", "burin record --calls --no-calls leaf -- bench/calls-patchable cost", f"median of {ROUNDS}",
                  "<= 0.3 ns above NOPs"),
    "callcpus": ("calls on two CPUs at once", "burin record --calls --mode flight -- bench/calls-instrument pair", f"median of {ROUNDS}",
                 "<= 1.05x one CPU"),
    "callbytes": ("bytes of a call in the trace", "burin record --calls -- bench/calls-instrument count", "once", "<= 24"),
    "uftrace": ("a call by a patched entry, beside uftrace", "burin record --calls --mode flight, uftrace record -P .: bench/calls-patchable cost", f"median of {ROUNDS}",
                ">= 8x cheaper"),
    "callreport": ("a report of calls, beside uftrace", f"burin report --calls; uftrace report: bench/calls-patchable count {CALLS}", f"best of {ROUNDS}",
                   ">= 5x faster"),
    "replay": ("printing calls, beside uftrace", f"burin replay; uftrace replay: bench/calls-patchable count {CALLS // 4}", f"best of {ROUNDS}", ">= 2x faster"),
    "exportuftrace": ("calls as a directory for uftrace", f"burin export uftrace: bench/calls-patchable count {CALLS // 4}", f"best of {ROUNDS}", "-"),
    "xray": ("a call, beside clang's XRay", "as above; bench/calls.c with -fxray-instrument, xray-fdr", f"median of {ROUNDS}", ">= 5x cheaper"),
}

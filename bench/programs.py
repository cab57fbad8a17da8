# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Rows of bench/run about programs as they come: the same run by both profilers, function by function.

Two runs of such a program differ by some points: its compiler and its garbage collector do their work at other times. So both
recorders sample one run. Where a program has functions of known shares, both are compared with these, too.
"""
import collections
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from common import QUICK, Failed, Skipped, call, values

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 3 if QUICK else 15
TOP = 10  # functions of each profiler, that are compared
HZ = 997
GATE = ["sh", "-c", 'echo $$ && read go && exec "$@"', "gate"]  # a command that waits until both record it


def bare(name):
    """
    A function's name without what tools write differently: arguments, results of templates, clones, versions. perf chooses another
    of several names that glibc has for one function.
    """
    name = re.sub(r" \[clone.*|\.(constprop|isra|part|cold|lto_priv)\b.*|@.*|^_+", "", name).replace("(anonymous namespace)", "{anonymous}")
    name = re.sub(r"operator(\(\)|<<|>>|<=|>=|->|<|>)", "operator", name).replace("memmove", "memcpy")
    if name.startswith(("JS:", "Builtin", "Bytecode")):
        return name
    kept, depth = "", 0
    for letter in name:
        depth += letter in "(<"
        kept += letter if not depth else ""
        depth -= letter in ")>" and depth > 0
    return re.sub(r"\s+const$", "", kept).strip().split(" ")[-1]


def nameless(image):
    """What stands for all code of an image that has no names."""
    name = os.path.basename(image)
    return "in " + ("code made at run time" if re.match(r"perf-\d+\.map$|\[JIT\]|//anon|\[?anon", name) else name)


def shares(counts):
    return {name: 100 * count / sum(counts.values()) for name, count in counts.items()}


def top(found):
    return sorted(found, key=found.get, reverse=True)[:TOP]


class Programs:
    def our_functions(self, path, kernel):
        """({function: samples}, the ledger). kernel: by function; else it is one"""
        report, counts = json.loads(call([self.burin, "report", "--json", "--by", "symbol,image", path])), collections.Counter()
        for row in report["rows"]:
            without = re.match(r"\[|.*\+0x[0-9a-f]+$", row["symbol"])
            name = nameless(row["image"]) if without else bare(row["symbol"])
            counts[name if kernel or row["image"] != "[kernel]" else "the kernel"] += row["samples"]
        return counts, report["ledger"]

    def their_functions(self, name, kernel):
        counts = collections.Counter()
        for line in self.perf(call, "script", name, "-F", "ip,sym,dso", "--no-inline").splitlines():
            match = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            if match:
                function = nameless(match[2]) if match[1] == "[unknown]" else bare(re.sub(r"\+0x[0-9a-f]+$", "", match[1]))
                counts[function if kernel or "kernel" not in match[2] else "the kernel"] += 1
        return counts

    @contextlib.contextmanager
    def beside(self, pid, name):
        """perf records a process and all that it starts, as soon as the body runs. It takes build ids from the kernel: where it read
        them from files, perf 6.1 and 6.12 aborted here (util/build-id.c:1010), and so did each reader of the recording."""
        if not shutil.which("perf"):
            raise Skipped("perf is not installed (apt install linux-perf)")
        orders, ours = os.pipe()
        answers, theirs = os.pipe()
        command = ["perf", "record", "-q", "--buildid-mmap", "-e", "cpu-clock", "-F", str(HZ), "-D", "-1", f"--control=fd:{orders},{theirs}",
                   "-o", os.path.join(self.dir, name), "-p", str(pid)]
        with subprocess.Popen(command, pass_fds=(orders, theirs), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace") as perf:
            os.close(orders)
            os.close(theirs)
            os.write(ours, b"enable\n")
            try:
                if not os.read(answers, 16):
                    raise Failed(f"perf record failed: {perf.stderr.read().strip()[-300:]}")
                yield
            finally:
                error = perf.communicate()[1]  # it ends when the process has ended
                os.close(ours)
                os.close(answers)
        if perf.returncode != 0:
            raise Failed(f"perf record failed: {error.strip()[-300:]}")

    def together(self, name, command, load=lambda: None):
        """Both record a command, while load() runs. Returns what the command printed."""
        path = os.path.join(self.dir, name)
        shutil.rmtree(path, ignore_errors=True)
        with subprocess.Popen([self.burin, "record", "-q", "-F", str(HZ), "-o", path, "--", *GATE, *command], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir, text=True, errors="replace") as recorder:
            pid = recorder.stdout.readline().strip()
            if not pid:
                raise Failed(f"burin record failed: {recorder.communicate()[1].strip()[-300:]}")
            self.map = f"/tmp/perf-{pid}.map"
            with self.beside(pid, name + ".perf"):
                recorder.stdin.write("\n")
                recorder.stdin.flush()
                load()
                out, error = recorder.communicate()
        if recorder.returncode != 0:
            raise Failed(f"{os.path.basename(command[0])} failed: {error.strip()[-300:]}")
        return out

    def program(self, name, command, load=lambda: None, known=None, most_cut=2, kernel=True):
        """
        A row. known: {function: pattern of its names}, for a program that prints the processor time of each. most_cut: the share of
        stacks, in percent, that may be cut. kernel: its functions are compared. Where a program sleeps and wakes up thousands of times a
        second, two recorders' timers meet, and the second one's samples are where the kernel permits interrupts again.
        """
        times = values(self.together(name, command, load))
        (ours, ledger), theirs = self.our_functions(os.path.join(self.dir, name), kernel), self.their_functions(name + ".perf", kernel)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.map)
        if not ours or not theirs:
            raise Failed("there are no samples")
        whole = ledger.get("counted_ns", 0) * HZ / 1e9  # samples, if each period of the program's processor time had one
        sampled = [100 * sum(found.values()) / whole if whole else 0 for found in (ours, theirs)]
        limit = 3 + max(0, sampled[0] - sampled[1])  # a task's own event does not sample its turns to the end
        ours, theirs = shares(ours), shares(theirs)
        off = {function: ours.get(function, 0) - theirs.get(function, 0) for function in [*top(ours), *top(theirs)]}
        worst = max(off, key=lambda function: abs(off[function]))
        cut = sum(ledger["truncated"].values())
        cut = 100 * cut / max(1, cut + ledger["complete"])
        result, passed = f"{off[worst]:+.1f} points at most ({worst})", abs(off[worst]) <= limit and cut <= most_cut
        for who, found in (("", ours), ("perf ", theirs)) if known else ():
            parts = {function: sum(share for one, share in found.items() if re.search(pattern, one)) for function, pattern in known.items()}
            wrong = max(abs(100 * parts[f] / max(1e-9, sum(parts.values())) - 100 * times[f] / sum(times[f] for f in known)) for f in known)
            result += f"; {who}{wrong:.1f} off what is known"
            passed = passed and (bool(who) or wrong <= 3)
        return (", ".join(f"{function} {ours[function]:.1f}" for function in top(ours)[:3]) + f" %; {sampled[0]:.1f} % of the time sampled",
                "perf " + ", ".join(f"{function} {theirs[function]:.1f}" for function in top(theirs)[:3]) + f" %; {sampled[1]:.1f} % sampled",
                f"{result}; {cut:.1f} % of the stacks cut, {sum(ledger['lost'].values())} samples lost", passed, abs(off[worst]))

    def script(self, row, interpreter, package, *command, **how):
        if not shutil.which(interpreter):
            raise Skipped(f"{interpreter} is not installed (apt install {package})")
        return self.program(row, [interpreter, *command, str(SECONDS)], **how)

    def row_python(self):
        return self.script("python", "/usr/bin/python3", "python3", os.path.join(HERE, "shares.py"))

    def row_node(self):
        return self.script("node", "node", "nodejs", os.path.join(HERE, "shares.js"))

    def row_nodemap(self):
        return self.script("nodemap", "node", "nodejs", "--perf-basic-prof", "--no-turbo-inlining", os.path.join(HERE, "shares.js"),
                           known={function: rf"^JS:\W*{function} " for function in ("hot", "warm", "cold")})

    def java(self, row, *options):
        if not shutil.which("javac"):
            raise Skipped("javac is not installed (apt install openjdk-17-jdk-headless)")
        call(["javac", "-d", self.dir, os.path.join(HERE, "Shares.java")])
        return self.script(row, "java", "openjdk-17-jdk-headless", *options, "-cp", self.dir, "Shares", most_cut=5)

    def row_java(self):
        return self.java("java")

    def row_javamap(self):
        return self.java("javamap", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit")

    def row_postgres(self):
        """The server under pgbench. Its clients are not recorded."""
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench"))
        if not found:
            raise Skipped("postgres is not installed (apt install postgresql)")
        programs = os.path.dirname(found[-1])
        user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []
        with tempfile.TemporaryDirectory(prefix="burin-bench-") as folder:
            if user:
                shutil.chown(folder, "postgres", "postgres")

            def tool(name, *arguments):
                return call([*user, os.path.join(programs, name), *arguments], cwd=folder)

            def load():
                try:
                    for _ in range(300):
                        if subprocess.run([os.path.join(programs, "pg_isready"), "-q", "-h", folder]).returncode == 0:
                            break
                        time.sleep(0.1)
                    tool("pgbench", "-h", folder, "-i", "-q", "postgres")
                    tool("pgbench", "-h", folder, "-c", "2", "-T", str(SECONDS), "postgres")
                finally:
                    tool("pg_ctl", "-D", folder + "/data", "-m", "fast", "stop")

            tool("initdb", "-D", folder + "/data", "--no-sync", "-A", "trust")
            return self.program("postgres", [*user, os.path.join(programs, "postgres"), "-D", folder + "/data", "-k", folder, "-c", "listen_addresses=",
                                             "-c", "fsync=off"], load)

    def row_redis(self):
        """The server under redis-benchmark, which is not recorded. The package of the service, which would run it, is not needed."""
        if not shutil.which("redis-check-rdb"):
            raise Skipped("redis-check-rdb is not installed (apt install redis-tools)")
        with tempfile.TemporaryDirectory(prefix="burin-bench-") as folder:
            server, socket = os.path.join(folder, "redis-server"), os.path.join(folder, "s")
            os.symlink(shutil.which("redis-check-rdb"), server)

            def load():
                try:
                    for _ in range(300):
                        if subprocess.run(["redis-cli", "-s", socket, "ping"], stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout == b"PONG\n":
                            break
                        time.sleep(0.1)
                    call(["redis-benchmark", "-s", socket, "-q", "-n", str(SECONDS * 15000), "-c", "20", "-t", "set,get,lrange_100"])
                finally:
                    subprocess.run(["redis-cli", "-s", socket, "shutdown", "nosave"])

            return self.program("redis", [server, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder], load, kernel=False)

    def row_clang(self):
        """A file with std::regex, whose compilation is deep, three times."""
        if not shutil.which("clang++"):
            raise Skipped("clang++ is not installed (apt install clang)")
        path = os.path.join(self.dir, "regex.cc")
        with open(path, "w", encoding="utf-8") as file:
            file.write('#include <regex>\nint main(int, char **v) { return std::regex_match(v[0], std::regex("a(b|c)*d")); }\n')
        compiler = shutil.which("clang++", path=os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if "ccache" not in p))
        return self.program("clang", ["sh", "-c", f"for n in 1 2 3; do {compiler} -O2 -c -o {path}.o {path}; done"])


MUST = "top functions within 3 points of perf's, and what perf does not sample, <= {} % of the stacks cut"
PROGRAM_ROWS = {
    "redis": ("a server of short requests, beside perf on the same run", "burin record -- redis-server; redis-benchmark; perf record -p", "once", MUST.format(2)),
    "clang": ("a compiler, with deep stacks", "burin record -- clang++ -O2; perf record -p", "once", MUST.format(2)),
    "postgres": ("a database server under load, beside perf on the same run", "burin record -- postgres; pgbench; perf record -p", "once", MUST.format(2)),
    "node": ("JavaScript without a map", "burin record -- node bench/shares.js; perf record -p", "once", MUST.format(2)),
    "nodemap": ("JavaScript with the map", "burin record -- node --perf-basic-prof --no-turbo-inlining bench/shares.js; perf record -p", "once", MUST.format(2) + ", known shares within 3"),
    "java": ("Java without a map", "burin record -- java Shares; perf record -p", "once", MUST.format(5)),
    "javamap": ("Java with the map that it writes at its end", "burin record -- java -XX:+DumpPerfMapAtExit Shares; perf record -p", "once", MUST.format(5)),
    "python": ("a Python script", "burin record -- python3 bench/shares.py; perf record -p", "once", MUST.format(2)),
}

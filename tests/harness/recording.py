# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Recordings, and two readers that have to agree.

A recording is read by babeltrace2, which is independent of Burin, and by `burin dump`, `burin info` and `burin check`.
A difference between them fails the case.
"""
import collections
import glob

from cases import *

CAUSES = {"buffer full": "full", "all rings locked": "busy", "too large": "size", "overwritten": "overwritten",
          "damaged in memory": "corrupt", "not written to disk": "unread"}


def xray():
    """What makes clang lay XRay's sleds without the library for them. Since clang 17 the last word is written in another way."""
    newer = "-fno-xray-link-deps"
    known = shutil.which("clang") and run("clang", newer, "-x", "c", "-fsyntax-only", "/dev/null").status == 0
    return "-fxray-instrument", "-fxray-instruction-threshold=1", newer if known else "-fnoxray-link-deps"


# ---- what babeltrace2 says


class Event:
    def __init__(self, ns, cpu, tid, name, fields, context=None):
        self.ns, self.cpu, self.tid, self.name, self.fields = ns, cpu, tid, name, fields
        self.context = context or {}  # correlation, depth

    def __repr__(self):
        return f"{self.name}{self.fields}"


token = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([{}\[\],=])|([^\s{}\[\],=]+))', re.S)
escapes = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\", "e": "\033"}


def unescape(text):
    def one(match):
        what = match.group(1)
        return chr(int(what[1:], 16)) if what[0] == "x" else escapes.get(what, what)
    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", one, text, flags=re.S) if "\\" in text else text


def number(text):
    if text.startswith(("0x", "0X")):
        return int(text, 16)
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text, 8) if re.fullmatch(r"0[0-7]+", text) else int(text)
    return float(text)


def parse_fields(text):
    """`a = 1, b = "x", c = [ [0] = 1, [1] = 2 ]` as a dict."""
    tokens = [(m.group(1), m.group(2) or m.group(3)) for m in token.finditer(text) if m.group(0).strip()]
    at = 0

    def value():
        nonlocal at
        string, word = tokens[at]
        at += 1
        if string is not None:
            return unescape(string)
        if word == "(":  # an enum: ( "label" : container = N ), ( <unknown> : container = N )
            label, at = tokens[at][0], at + 6
            return unescape(label) if label is not None else number(tokens[at - 2][1])
        if word != "[":
            return number(word)
        out = []
        while tokens[at][1] != "]":
            at += 4 if tokens[at][1] == "[" else 1  # [ N ] =
            if tokens[at - 1][1] == "=":
                out.append(value())
        at += 1
        return out

    fields = {}
    while at < len(tokens):
        if tokens[at][1] == "," and tokens[at][0] is None:
            at += 1
            continue
        name = tokens[at][1]
        at += 2
        fields[name] = value()
    return fields


line_form = re.compile(r"\[([0-9]+)\.([0-9]{9})\] (?:\S+ )?(\S+): \{ cpu_id = (\d+) \}, \{ vtid = (\d+)((?:, \w+ = \d+)*) \}, \{(.*)\}$", re.S)


class Babeltrace:
    """Everything in a trace as babeltrace2 reads it."""

    def __init__(self, path, parse=True):
        need("babeltrace2")
        done = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=10 * LIMIT_S)
        self.err = done.stderr.decode("utf-8", "replace")
        wrong = [line for line in self.err.splitlines() if line.strip() and not line.startswith("WARNING: Tracer ")]
        check(done.returncode == 0 and not wrong, f"babeltrace2 complains: {wrong[:2]} (status {done.returncode})")
        self.lost = sum(int(n) for n in re.findall(r"Tracer discarded (\d+) event", self.err))
        self.text = done.stdout.decode("utf-8", "surrogateescape")
        self.events, self.names, self.count = [], [], 0
        if parse:
            self.parse()
        else:
            lines = self.text.count("\n")
            self.count = lines - len(re.findall(r"^\[[0-9.]+\] (?:\S+ )?burin\.(?:process|thread|change): ", self.text, re.M))

    def parse(self):
        before = 0
        for line in self.text.split("\n"):
            if not line:
                continue
            match = line_form.match(line)
            check(match, f"babeltrace2 printed {short(line)}")
            event = Event(int(match.group(1)) * 10**9 + int(match.group(2)), int(match.group(4)), int(match.group(5)),
                          match.group(3), parse_fields(match.group(7)), parse_fields(match.group(6)))
            check(event.ns >= before, "babeltrace2's times go back")
            before = event.ns
            (self.names if event.name in ("burin.process", "burin.thread", "burin.change") else self.events).append(event)
        self.count = len(self.events)


# ---- what burin says, and whether they agree


def same_value(ours, theirs):
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same_value, ours, theirs))
    if isinstance(theirs, list):
        return ours == "".join("%02x" % n for n in theirs)
    if isinstance(theirs, str):
        return (ours is None and theirs == "\u2400") or ours == theirs or not theirs.isprintable() or "\udc80" <= max(theirs)
    if isinstance(ours, str) and isinstance(theirs, int):  # a char
        return len(ours) != 1 or ord(ours) == theirs & 0xff or ord(ours) > 127
    if isinstance(ours, str):
        return float(ours.replace("Infinity", "inf")) == theirs or (theirs != theirs and ours == "NaN")
    if isinstance(theirs, float) or isinstance(ours, float):
        return abs(ours - theirs) <= 1e-5 * max(abs(ours), abs(theirs))
    if ours < 0 < theirs:  # babeltrace2 shows the bits of a negative number that is printed in hexadecimal
        return any(ours + (1 << bits) == theirs for bits in (8, 16, 32, 64))
    return int(ours) == theirs


def same_fields(ours, theirs):
    theirs = {k: v for k, v in theirs.items() if not (k.startswith("_") and k.endswith("_length"))}
    return list(ours) == list(theirs) and all(same_value(ours[k], theirs[k]) for k in ours)


def late_looks():
    """A command that runs a program so that a thread's look at its own name ends late: another thread that opens the name meanwhile has changed it."""
    need("strace")
    words = ("strace", "-f", "-o", "/dev/null", "-e", "trace=prctl,openat", "-e", "inject=openat:delay_enter=30000", "-e", "inject=prctl:delay_exit=200000")  # us
    if run(*words, "true").status:
        raise Skip("strace may not trace here")
    return words


def dump(path, *options):
    done = subprocess.run([BURIN, "dump", "--json", *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=10 * LIMIT_S)
    check(done.returncode == 0, f"burin dump: status {done.returncode}: {done.stderr.decode('utf-8', 'replace')[:300]}")
    return [json.loads(line) for line in done.stdout.decode("utf-8", "surrogateescape").splitlines()]


def info(path, faults=False):
    done = subprocess.run([BURIN, "info", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=10 * LIMIT_S)
    check(done.returncode == 0 or faults, f"burin info: status {done.returncode}: {done.stderr.decode('utf-8', 'replace')[:300]}")
    return json.loads(done.stdout.decode("utf-8", "surrogateescape"))


def mend_empty(event, ours, shown):
    """babeltrace2 2.0.4 shows an empty string as a string that the same field had in an earlier event (efficios/babeltrace
    pull request 116 describes it): where we say empty and it says something that it has said before, it is empty."""
    for key, value in event.fields.items():
        if isinstance(value, str):
            before = shown.setdefault((event.name, key), set())
            if ours.get(key) == "" and value in before:
                event.fields[key] = ""
            before.add(value)


def clock_hz(path):
    """Of the trace, or of its first chunk."""
    first = sorted(glob.glob(os.path.join(path, "**", ".burin", "recording"), recursive=True))[0]
    with open(first, encoding="utf-8") as file:
        return int(re.search(r"^clock_hz=(\d+)$", file.read(), re.M).group(1))


def compare(theirs, path):
    """The same events, in the same order for each thread, by both readers. To babeltrace2 the clock's offset is in whole ticks, and two times are rounded down."""
    ours, times, shown = dump(path), [0], {}
    tick_ns = 10**9 / clock_hz(path)
    equal(len(ours), len(theirs), "events that burin dump shows, babeltrace2 shows")
    by_thread = {}
    for event in theirs:
        by_thread.setdefault(event.tid, collections.deque()).append(event)
    for event in ours:
        check(event["time_ns"] >= times[-1], "the times of burin dump go back")
        times.append(event["time_ns"])
        queue = by_thread.get(event["tid"])
        check(queue, f"burin dump alone shows {short(event)}")
        other = queue.popleft()
        mend_empty(other, event["fields"], shown)
        check(event["event"] == other.name and event["cpu"] in (other.cpu, None) and abs(event["time_ns"] - other.ns) <= 2 + tick_ns
              and same_fields(event["fields"], other.fields)
              and {k: event[k] for k in ("correlation", "depth") if k in event} == other.context,
              f"burin dump shows {short(event)}, babeltrace2 {other.ns} cpu {other.cpu} {short(other)}")
    return ours


class Trace:
    """A trace that both readers have read alike. `events` are babeltrace2's, `ours` the lines of burin dump."""

    def __init__(self, path, big=False, finished=True):
        self.path = path
        babel = Babeltrace(path, not big)
        self.events, self.names, self.count, self.lost, self.text = babel.events, babel.names, babel.count, babel.lost, babel.text
        self.info = info(path)
        self.ours = [] if big else compare(self.events, path)
        self.losses = self.info["lost"]
        equal(self.info["records"], self.count, "records that burin info counts, babeltrace2 counts")
        equal(sum(self.losses.values()), self.lost + self.lost_before(), "losses by burin info, and by babeltrace2")
        self.lost = sum(self.losses.values())
        equal(self.info["faults"], 0, "faults")
        if finished:
            equal(self.info["state"], "finished", "state")
        done = run(BURIN, "check", path)
        # A recorder that was killed may have taken records whose thread's name it had not taken yet; a message reports it.
        wrong = [line for line in done.lines() if finished or "no names of their threads" not in line]
        check(not wrong and (done.status == 0 or not finished), f"burin check: status {done.status}: {wrong[:3]}")

    def lost_before(self):
        """babeltrace2 knows only of losses between two packets: those before the first packet of each stream are missing."""
        lost = 0
        for file in os.listdir(self.path):
            if "." not in file and file not in ("metadata", "names"):
                with open(os.path.join(self.path, file), "rb") as stream:
                    stream.seek(168)
                    lost += int.from_bytes(stream.read(8), "little")
        return lost

    def named(self, name):
        return [event for event in self.events if event.name == name]

    def table(self, name):
        found = [event for event in self.info["events"] if event["name"] == name]
        equal(len(found), 1, f"entries of {name} in the event table")
        return found[0]

    def thread(self, tid):
        """The last announcement of a thread: (pid, name)."""
        found = [n.fields for n in self.names if n.name == "burin.thread" and n.tid == tid]
        check(found, f"thread {tid} was never announced")
        return found[-1]["pid"], found[-1]["name"]


class Recording(Result):
    """`burin record` as it ended, and the numbers of its summary."""

    def __init__(self, result, path):
        super().__init__(result.status, result.out, result.err, result.pid)
        self.path, err = path, result.err
        match = re.search(r"^burin: ([0-9,]+) events? on (\d+) CPUs?, (.*) in (.*), lost ([0-9,]+)(?:: (.*))?$", err, re.M)
        self.said = int(match.group(1).replace(",", "")) if match else None
        self.lost = int(match.group(5).replace(",", "")) if match else None
        self.causes, self.lost_records = {}, 0
        for part in re.findall(r"([0-9,]+) ([a-z ]+?)(?: \(try[^)]*\))?(?:, |$)", match.group(6) or "") if match else []:
            self.causes[part[1]] = int(part[0].replace(",", ""))
        if match:  # announcements are no records of the program
            self.lost_records = self.lost - self.causes.get("names", 0)

    def read(self, big=False):
        """Read the trace, and hold it against the summary."""
        equal(session_files(self.pid), [], "session files left behind")
        check(self.said is not None, f"there is no summary: {self.err[:300]}")
        trace = Trace(self.path, big)
        equal(self.said, trace.count, "events in the summary")
        equal(self.lost_records - self.causes.get("after the end", 0), trace.lost, "losses in the summary")
        for cause, key in CAUSES.items():
            equal(self.causes.get(cause, 0), trace.losses[key], f"losses by '{cause}'")
        return trace


def record(*command, options=(), env=None, stdin=None, output=None, cwd=None, limit=LIMIT_S, prefix=(), samples=False):
    """Without samples unless they are asked for: tests that count what tracepoints record need no others."""
    path = output or fresh()
    options = (*options, *(() if samples else ("--no-samples",)))
    done = run(*prefix, BURIN, "record", "-o", path, *options, "--", *command, env=env, stdin=stdin, cwd=cwd, limit=limit)
    return Recording(done, path)


def traced(*command, options=(), env=None, status=0, big=False, **more):
    """Record a program that must end well; its trace, its output in `trace.out`."""
    done = record(*command, options=options, env=env, **more)
    check(done.status == status, f"status {done.status} instead of {status}: {done.err[-300:]}")
    trace = done.read(big)
    trace.out, trace.err = done.out, done.err
    return trace

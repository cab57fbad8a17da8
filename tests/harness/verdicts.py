# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the output of one test means: tests/run counts it, and repeats what has failed."""
import re

LINES = 60  # of a test's output are shown


def classify(line):
    """('ok' | 'not ok' | 'skip' | None) of one line of output."""
    if re.match(r"(not )?ok\b.*#\s*skip", line, re.I) or re.match(r"skip\b", line):
        return "skip"
    if re.match(r"not ok\b", line):
        return "not ok"
    if re.match(r"ok\b", line):
        return "ok"
    return None


def escape(name):
    """The glob that fits this name only, for fnmatch in Python and fnmatch(3) with FNM_NOESCAPE."""
    return re.sub(r"([*?[])", r"[\1]", name)


class Failure:
    """@case: its name, None if that is not known or the test has failed as a whole; @lines: what is printed of it."""

    def __init__(self, case, lines):
        self.case, self.lines = case, lines


class Outcome:
    """One execution of a test."""

    def __init__(self, name, output, status, late=False, seconds=0.0, busy=0.0):
        self.name, self.lines, self.status, self.seconds, self.busy = name, output.splitlines(), status, seconds, busy
        cases = [c for c in map(classify, self.lines) if c]
        self.counts = {kind: cases.count(kind) for kind in ("ok", "not ok", "skip")}
        self.failures = list(self.failed_cases())
        self.why, self.skipped = "", None  # the reason for which the test was skipped as a whole
        if late:
            self.fail_whole("took too long")
        elif not cases and status == 77:
            self.counts["skip"] += 1
            self.why = self.skipped = self.lines[-1] if output.strip() else "no reason given"
        elif not cases:
            self.fail_whole(f"no case was run (exit status {status})")
        elif status != 0 and not self.counts["not ok"] and not (status == 77 and not self.counts["ok"]):
            self.fail_whole(f"exit status {status}")
        elif status < 0:  # cases that would have come later are not known
            self.fail_whole(f"signal {-status}")
        self.refused = []

    def fail_whole(self, why):
        self.counts["not ok"] += 1
        self.why = why
        self.failures.append(Failure(None, [why, *self.lines[-LINES:]]))

    def failed_cases(self):
        """A script, and the harness in C, print `# case: NAME` before a case that has failed; cmocka's lines have no more than the name."""
        name, remarks = None, []
        for line in self.lines:
            kind = classify(line)
            if kind == "not ok":
                tap = re.fullmatch(r"not ok \d+ - (\w+)", line)
                yield Failure(tap.group(1) if tap else name, [line, *remarks[-LINES:]])
            elif line.startswith("# case: "):
                name = line[len("# case: "):]
                continue
            elif not kind:
                remarks.append(line)
                continue
            name, remarks = None, []

    def refuse(self, permitted):
        """Skips that tests/skips.txt does not permit have failed. @permitted: [(test, pattern of the line)]"""
        skips = [self.skipped] if self.skipped is not None else [line for line in self.lines if classify(line) == "skip"]
        self.refused = [line for line in skips if not any(self.name == test and re.search(pattern, line) for test, pattern in permitted)]
        self.counts["skip"] -= len(self.refused)
        self.counts["not ok"] += len(self.refused)

    def units(self):
        """The names of cases to repeat alone; [None] if the test must be repeated as a whole."""
        names = list(dict.fromkeys(failure.case for failure in self.failures))
        return [None] if None in names else names

    def of(self, case):
        """The failures of one unit."""
        return [failure for failure in self.failures if case is None or failure.case == case]

    def passed(self, case, first):
        """Whether a repetition passed: as a whole, or this one case. What ran in the @first execution must not be skipped now."""
        wanted = re.compile(rf"ok (\d+ - )?{re.escape(case or '')}")
        ran = any(classify(line) == "ok" and wanted.match(line) for line in self.lines)
        skips = 0 if case else self.counts["skip"] if first.why else first.counts["skip"]
        return not self.counts["not ok"] and ran and self.counts["skip"] <= skips

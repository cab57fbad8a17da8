# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the tests of attribution share: programs whose truth is known, their recordings, and what is reported of them."""
import functools

from recording import *
from sampling import UNSAMPLED

HERE = os.path.join(TOP, "tests", "programs")
HZ = 2000
WORK = ["main", "work", "step", "busy"]


@functools.cache
def built(flags, source, compiler):
    path = fresh("built")
    made(compiler, "-O2", "-g", "-fomit-frame-pointer", *flags, "-o", path, os.path.join(HERE, source))
    return path


def compiled(*flags, source="truth.c", compiler="gcc", name="truth"):
    """A program, in a folder of its own."""
    need(compiler)
    path = os.path.join(fresh("program"), name)
    os.makedirs(os.path.dirname(path))
    return shutil.copy(built(flags, source, compiler), path)


def line_of(mark, source="truth.c"):
    with open(os.path.join(HERE, source), encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if f"here: {mark}" in line)


def contains(stack, frames):
    """Whether these are in a stack, one after the other. Interrupts of the kernel may be behind them."""
    return any(stack[n:n + len(frames)] == frames for n in range(len(stack)))


class Profile:
    """A recording as it is reported: stacks with how often they were seen, and what `.burin/profile` says."""

    def __init__(self, path, few=0.1):
        self.path = path
        equal(run(BURIN, "check", path).status, 0, "burin check")
        with open(os.path.join(path, ".burin", "profile"), encoding="utf-8") as file:
            self.said = {k: int(v) for k, v in (line.split("=", 1) for line in file.read().splitlines()) if v.isdigit()}
        lost = {k: v for k, v in self.said.items() if k.startswith("lost.") and v}
        few *= self.said["received"]  # on a busy machine the recorder may come too late for the kernel's ring
        check(set(lost) <= {"lost.ring"} and sum(lost.values()) <= few, f"samples were lost: {lost} of {self.said['received']}")
        equal(self.said["received"], self.said["attributed"] + sum(lost.values()), "samples")
        self.stacks = self.folded()
        equal(sum(n for _, n in self.stacks), self.said["attributed"], "samples of all stacks")

    def folded(self, *options):
        """[([function, ..., callers first], samples)], without the program."""
        lines = made(BURIN, "export", "folded", *options, self.path).splitlines()
        return [(stack.split(";")[1:], int(count)) for stack, count in (line.rsplit(" ", 1) for line in lines)]

    def rows(self, by):
        return json.loads(made(BURIN, "report", "--json", "--inline", "show", "--by", by, self.path))["rows"]

    def share(self, holds):
        return sum(n for stack, n in self.stacks if holds(stack)) / max(1, self.said["attributed"])

    def cut(self):
        return {k[len("truncated."):]: v for k, v in self.said.items() if k.startswith("truncated.") and v}

    def most(self):
        return short(max(self.stacks, key=lambda s: s[1]))

    def expect(self, frames, least=0.8, first="_start"):
        """At least that share of all samples has these frames, one after the other, in a stack that begins with `first`. The others are those
        of the program's start, which may take a tenth of a second on a slow machine."""
        share = self.share(lambda seen: seen[0] == first and contains(seen, frames))
        check(share >= least, f"{share:.0%} of {self.said['attributed']} samples are in {short(frames)}, but {self.most()}")


def sampled(*command, options=(), least=100, **more):
    """Shares are compared, so few samples may be lost. Where the kernel's ring was full for longer, as other work kept the recorder from
    running, the command is recorded again: the ledger says so, which Profile compares."""
    if UNSAMPLED:
        raise Skip(f"there are no samples here: {UNSAMPLED}")
    for left in range(4, -1, -1):
        done = record(*command, options=("-F", HZ, "--sample-buffer", "64M", *options), samples=True, **more)
        check(done.status == 0, f"status {done.status}: {done.err[-300:]}")
        profile = Profile(done.path, few=0.02 if not left else 1)
        if profile.said["lost.ring"] <= 0.02 * profile.said["received"]:
            break
    check(profile.said["attributed"] >= least, f"{profile.said['attributed']} samples")
    return profile


def root():
    if os.geteuid() != 0:
        raise Skip("it takes root")

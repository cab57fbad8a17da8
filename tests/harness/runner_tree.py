# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Copies of tests/run with tests of their own, for tests of the runner."""
from cases import *


class Tree:
    """A copy of tests/run with tests of our own: scripts in Python, in a shell, and compiled ones."""

    def __init__(self, unstable="", **scripts):
        self.top, self.seen = fresh("tree"), fresh("seen")
        os.makedirs(os.path.join(self.top, "tests"))
        os.makedirs(self.seen)
        os.makedirs(os.path.join(self.top, "scripts"))
        for name in ("tests/run", "tests/skips.txt", "scripts/soak"):
            shutil.copy(os.path.join(TOP, name), os.path.join(self.top, name))
        os.symlink(os.path.join(TOP, "tests", "harness"), os.path.join(self.top, "tests", "harness"))
        self.write("tests/unstable.txt", unstable)
        self.build, self.compiled = os.path.join(self.top, "build"), []
        for name, text in scripts.items():
            self.write(f"tests/{name}.test", text)
        self.list()

    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def list(self):
        self.write("build/meson-info/intro-targets.json", json.dumps([{"name": os.path.basename(path), "filename": [path]} for path in self.compiled]))

    def run(self, *options, **env):
        return self.execute("tests/run", self.build, *options, **env)

    def execute(self, command, *options, **env):
        """(status, lines)"""
        more = environment(TEST_STRICT="0", SEEN=self.seen, PYTHONPATH=os.path.join(TOP, "tests", "harness"), **env)
        more.pop("TEST_SEED", None)
        done = run(os.path.join(self.top, command), *options, env=more)
        return done.status, (done.out + done.err).splitlines()

    def times(self, name):
        """How often a test noted that it ran, and with which seeds and cases."""
        path = os.path.join(self.seen, name)
        return open(path, encoding="utf-8").read().splitlines() if os.path.exists(path) else []


PYTHON = """#!/usr/bin/env -S python3 -B
from cases import *

def note(name):
    with open(os.path.join(os.environ["SEEN"], name), "a", encoding="utf-8") as file:
        file.write(f"{seed}\\n")
    with open(os.path.join(os.environ["SEEN"], name), encoding="utf-8") as file:
        return len(file.readlines())

"""


def script(*cases, notes="case"):
    """A script whose cases are (name, expression of what is right at the n-th time); case 0 notes its times as case-0."""
    return PYTHON + "".join(f"""
@case({name!r})
def _():
    n = note({f"{notes}-{number}"!r})
    check({right}, f"time {{n}}")
""" for number, (name, right) in enumerate(cases)) + "\nfinish()\n"

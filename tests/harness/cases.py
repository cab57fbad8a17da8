# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What all scripts share: cases and their verdicts, programs that they run, and a folder of their own."""
import atexit
import contextlib
import fnmatch
import gc
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from processors import Patience

BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else sys.exit("usage: NAME.test BUILD [long]")
LONG = len(sys.argv) > 2 and sys.argv[2] == "long"
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BURIN = os.path.join(BUILD, "src", "burin")
PROGRAMS = os.path.join(BUILD, "tests", "programs")
LIMIT_S = 400  # of a whole CPU, for what hangs; a machine may have other things to do

gc.disable()  # lists of hundreds of thousands of records, and hardly a cycle: it would take up to half of a test's time
sys.stdout.reconfigure(errors="backslashreplace")  # what a program prints may be any bytes


# ---- cases


class Skip(Exception):
    pass


class Wrong(Exception):
    pass


def check(condition, why):
    if not condition:
        raise Wrong(why)


def equal(got, wanted, what):
    if isinstance(got, (set, frozenset)) and isinstance(wanted, (set, frozenset)) and len(got & wanted) > 3:  # large sets: only what differs
        got, wanted, what = got - wanted, wanted - got, f"{what}, apart from {len(got & wanted)} that agree"
    check(got == wanted, f"{what}: {short(got)} instead of {short(wanted)}")


def at_most(count, of, share, what):
    """At most that share of what was seen at random. What chance alone makes of it is allowed for: 5 standard deviations."""
    check(count <= of * share + 5 * (of * share * (1 - share)) ** 0.5, f"{what}: {count} of {of}")


def at_least(count, of, share, what):
    """At least that share."""
    check(count >= of * share - 5 * (of * share * (1 - share)) ** 0.5, f"{what}: {count} of {of}")


def short(value):
    text = repr(value)
    return text if len(text) <= 300 else text[:200] + " ... " + text[-90:]


def one_line_of(why):
    return " | ".join(line.strip() for line in str(why).splitlines() if line.strip())


failures = 0


def chosen(name):
    """Whether TEST_CASE, a glob, chooses this case."""
    return fnmatch.fnmatchcase(name, os.environ.get("TEST_CASE", "*"))


def verdict(name, faults):
    """Prints one case. It has failed if there are faults, each a line; the first line is the name alone, for tests/run."""
    global failures
    if faults:
        failures += 1
        print(f"# case: {name}")
        for fault in faults[1:12]:
            print(f"# {fault}")
        print(f"not ok {name}: {faults[0]}" + (f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""))
    else:
        print(f"ok {name}")


def case(name):
    """Runs the function that it decorates, at once, as one case. The function returns or yields faults, or raises Wrong.
    It runs if it is chosen(). Random numbers are the same whether it runs alone or after others. With TEST_TIMES, the processor
    time of each is printed."""
    def run_case(function):
        if not chosen(name):
            return function
        before = os.times()
        for choice in choices:
            choice.seed(f"{seed} {name}")
        try:
            verdict(name, [one_line_of(fault) for fault in function() or ()])
        except Skip as why:
            print(f"skip {name}: {one_line_of(why)}")
        except Wrong as why:
            verdict(name, [one_line_of(why)])
        except Exception as why:  # a test's own mistake is a failure too
            at = "; ".join(f"{os.path.basename(f.filename)}:{f.lineno}" for f in traceback.extract_tb(why.__traceback__)[1:])
            verdict(name, [f"{type(why).__name__}: {one_line_of(why)[:300]} ({at})"])
        if "TEST_TIMES" in os.environ:
            own, children = (sum(after - then for after, then in zip(os.times()[part], before[part])) for part in (slice(0, 2), slice(2, 4)))
            print(f"# {own + children:.1f} s of CPU, {own:.1f} s of them the test's own")
        sys.stdout.flush()
        return function
    return run_case


def long_case(name):
    """A case of the long run only, such as one that boots another machine."""
    return case(name) if LONG else lambda function: function


def finish():
    sys.exit(1 if failures else 0)


def need(tool):
    if not shutil.which(tool):
        raise Skip(f"{tool} is not installed")


seed = int(os.environ.get("TEST_SEED", "0"), 0) or random.SystemRandom().randrange(1, 1 << 31)


choices = []


def seeded():
    """Random numbers whose seed is printed, so that tests/run --seed repeats the run. Each case begins them anew, from the seed and
    its name."""
    print(f"# seed {seed}")
    choices.append(random.Random(seed))
    return choices[-1]


def died(kind, why, where):
    """An exception outside of all cases: the test as a whole has failed."""
    print("".join(traceback.format_exception(kind, why, where)) + f"not ok (the test itself) {kind.__name__}: {one_line_of(why)[:300]}", flush=True)


sys.excepthook = died


# ---- places and processes

folder = tempfile.mkdtemp(prefix="burin-test-")
os.chmod(folder, 0o755)
atexit.register(shutil.rmtree, folder, True)
numbers = iter(range(1, 1 << 30))


def alone(*options):
    """Starts the test once more where /dev/shm is empty, so that it neither sees nor removes sessions of others; with more options
    of unshare. Return: whether that is permitted. It comes before all else that a test does."""
    if "TEST_ALONE" not in os.environ:
        how = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), *options, "sh", "-c",
               'mount -t tmpfs -o mode=1777 none /dev/shm && exec "$0" "$@"']
        permitted = shutil.which("unshare") and subprocess.run([*how, "true"], capture_output=True).returncode == 0
        os.environ["TEST_ALONE"] = "yes" if permitted else "no"
        if permitted:
            os.rmdir(folder)
            os.execvp("unshare", [*how, *sys.orig_argv])
    return os.environ["TEST_ALONE"] == "yes"


def need_alone(*options):
    if not alone(*options):
        raise Skip("the test cannot have a /dev/shm of its own (unshare --mount)")


def fresh(name="trace"):
    return os.path.join(folder, f"{name}-{next(numbers)}")


def program(name):
    path = os.path.join(PROGRAMS, name)
    check(os.access(path, os.X_OK), f"{path} has not been built")
    return path


def sanitized(name="programs/burin-sanitized"):
    """A program that was built with sanitizers."""
    path = os.path.join(BUILD, "tests", name)
    if not os.path.exists(path):
        raise Skip("built without sanitizers")
    return path


def environment(**more):
    """Without kept names of earlier recordings: what a test does must not depend on those. TEST_CASE is for this script."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BURIN_", "DEBUGINFOD_")) and k != "TEST_CASE"}
    env["BURIN_KEEP_NAMES"] = "no"
    env.update(more)
    return env


class Result:
    def __init__(self, status, out, err, pid=0):
        self.status, self.out, self.err, self.pid = status, out, err, pid

    def lines(self):
        return self.err.splitlines()


def start(*command, stdin=subprocess.DEVNULL, env=None, cwd=None, **more):
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([str(c) for c in command], stdin=stdin, env=env or environment(), cwd=cwd or folder, **more)


def feed(pipe, data):
    """communicate() with a limit cannot go on with its input."""
    with contextlib.suppress(BrokenPipeError), pipe:
        pipe.write(data)


def ended(process, stdin=None, limit=LIMIT_S):
    """Wait for a process, and read its output to the end. One that does not end is killed, and that is a failure."""
    patience = Patience(limit)
    if stdin is not None:
        threading.Thread(target=feed, args=(process.stdin, stdin), daemon=True).start()
        process.stdin = None
    while True:
        try:
            out, err = process.communicate(timeout=1)
            break
        except subprocess.TimeoutExpired:
            if patience.over():
                process.kill()
                raise Wrong(f"process {process.pid} did not end within {limit} s") from None
    return Result(process.returncode, (out or b"").decode("utf-8", "surrogateescape"), (err or b"").decode("utf-8", "surrogateescape"),
                  process.pid)


def run(*command, stdin=None, limit=LIMIT_S, **more):
    return ended(start(*command, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE, **more), stdin, limit)


def help_of(command):
    """--help of a command with all its options: one that has many shows without a value those that are used most."""
    text = run(BURIN, command, "--help").out
    return run(BURIN, command, "--help=all").out if "--help[=GROUP]" in text else text


def made(*command, **more):
    """What a command prints that must succeed."""
    done = run(*command, **more)
    check(done.status == 0, f"{' '.join(map(str, command))}: status {done.status}: {done.err[-300:]}")
    return done.out


# Two ordinary users, who need no entry in /etc/passwd, and are others than those of tests that run beside this one.
USER = 61000 + os.getpid() % 2000 * 2
OTHER = USER + 1


def as_user(uid=USER):
    """How to run something as an ordinary user."""
    if os.geteuid() != 0:
        raise Skip("needs root, to be several users")
    need("setpriv")
    prefix = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    if run(*prefix, BURIN, "--version").status != 0:
        raise Skip(f"an ordinary user cannot get at {BURIN}")
    return prefix


def session_files(pid, uid=None):
    """The session files that a recorder with this pid has."""
    place = f"/dev/shm/burin-{os.geteuid() if uid is None else uid}"
    return [os.path.join(place, f) for f in os.listdir(place) if f.startswith(f"{pid}-")] if os.path.isdir(place) else []


def wait_until(condition, what, limit=120):
    patience = Patience(limit)
    while not condition():
        check(not patience.over(), f"{what} did not come within {limit} s")
        time.sleep(0.005)


def woken(pid):
    """How often a process gave up its CPU so far: it waited for something."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M).group(1))


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False

# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the tests of live control share: a /dev/shm of their own, and a program that is told what to do.

Sessions of whoever else uses the machine are neither to be seen nor to be removed: the test starts itself once more where
/dev/shm is empty.
"""
import shutil as _shutil
import signal
import subprocess as _subprocess

from lib import *

PRIVATE = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount", "sh", "-c",
           'mount -t tmpfs -o mode=1777 none /dev/shm && exec "$0" "$@"']

if "CONTROL_TEST_PRIVATE" not in os.environ:
    os.environ["CONTROL_TEST_PRIVATE"] = "no"
    if _shutil.which("unshare") and _subprocess.run([*PRIVATE, "true"], capture_output=True).returncode == 0:
        os.environ["CONTROL_TEST_PRIVATE"] = "yes"
        os.rmdir(folder)
        os.execvp("unshare", [*PRIVATE, sys.executable, *sys.argv])

CONTROLLED = program("controlled")
HOME = fresh("home")
os.mkdir(HOME)
os.environ["HOME"] = HOME
os.environ.pop("XDG_CONFIG_HOME", None)
USER, OTHER = 61234, 61235  # needs no entry in /etc/passwd


def in_folder(name):
    return os.path.join(PROGRAMS, name)


def need_private():
    if os.environ["CONTROL_TEST_PRIVATE"] != "yes":
        raise Skip("there is no /dev/shm for this test alone (unshare --mount), and other people's sessions are theirs")


def as_user(uid=USER):
    """How to run something as an ordinary user."""
    if os.geteuid() != 0:
        raise Skip("needs root, to be several users")
    need("setpriv")
    prefix = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    if run(*prefix, BURIN, "--version").status != 0:
        raise Skip(f"an ordinary user cannot get at {BURIN}")
    return prefix


class Live:
    """The program `controlled`, which answers each line with a number."""

    def __init__(self, *command, prefix=(), **env):
        self.process = start(*prefix, *(command or [CONTROLLED]), stdin=_subprocess.PIPE, env=environment(**env))
        self.pid = self.process.pid
        self("active")

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        said = self.process.stdout.readline()
        check(said, f"the program has ended: {self.process.stderr.read()[:300]!r}" if not said else "")
        return int(said)

    def __call__(self, line):
        self.tell(line)
        return self.hear()

    def end(self, line="return", status=0):
        self.tell(line)
        done = ended(self.process, limit=30)
        equal(done.status, status, f"status of the program after '{line}'")
        return done

    def kill(self):
        self.process.kill()
        return ended(self.process)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except OSError:
                pass
        self.process.wait()


def burin(*arguments, status=0, prefix=(), **more):
    """A command that must end with this status, in one way or the other with at most a few lines, and never crash."""
    done = run(*prefix, BURIN, *arguments, limit=30, **more)
    equal(done.status, status, f"status of burin {' '.join(str(a) for a in arguments)} ({done.err[:300]!r})")
    return done


def listed(*arguments, prefix=()):
    done = run(*prefix, BURIN, "ls", "--json", *arguments, limit=30)
    return [json.loads(line) for line in done.out.splitlines()] if done.status == 0 else []


def one(pid, prefix=()):
    found = listed(str(pid), prefix=prefix)
    equal(len(found), 1, f"sessions of {pid}")
    return found[0]


def state(pid):
    found = listed(str(pid))
    return found[0]["state"] if len(found) == 1 else f"{len(found)} sessions"


def events(target, *globs):
    return {e["name"]: e for e in map(json.loads, burin("events", "--json", target, *globs).out.splitlines())}


def switched_on(target, *globs):
    return sorted(name for name, e in events(target, *globs).items() if e["switch"] != "off")


def held(target, *globs):
    return {name: e["held"] for name, e in events(target, *globs).items() if e["held"]}


def own_files(pid, uid=None):
    """The session files that a program with this pid has."""
    place = f"/dev/shm/burin-{os.geteuid() if uid is None else uid}"
    return [os.path.join(place, f) for f in os.listdir(place) if f.startswith(f"{pid}.")] if os.path.isdir(place) else []

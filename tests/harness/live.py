# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the tests of live control share: a /dev/shm of their own, and a program that takes commands."""
import signal
import subprocess

from recording import *

alone()
CONTROLLED = program("controlled")
HOME = fresh("home")
os.mkdir(HOME)
os.environ["HOME"] = HOME
os.environ.pop("XDG_CONFIG_HOME", None)


def in_folder(name):
    return os.path.join(PROGRAMS, name)


class Live:
    """The program `controlled`, which answers each line with a number."""

    def __init__(self, *command, prefix=(), **env):
        self.process = start(*prefix, *(command or [CONTROLLED]), stdin=subprocess.PIPE, env=environment(**env))
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
        done = ended(self.process)
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
    done = run(*prefix, BURIN, *arguments, **more)
    equal(done.status, status, f"status of burin {' '.join(str(a) for a in arguments)} ({done.err[:300]!r})")
    return done


def listed(*arguments, prefix=()):
    done = run(*prefix, BURIN, "ls", "--json", *arguments)
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
    return sorted(name for name, e in events(target, *globs).items() if e["state"] != "off")


def held(target, *globs):
    return {name: e["buffered"] for name, e in events(target, *globs).items() if e["buffered"]}


def own_files(pid, uid=None):
    """The session files that a program with this pid has."""
    place = f"/dev/shm/burin-{os.geteuid() if uid is None else uid}"
    return [os.path.join(place, f) for f in os.listdir(place) if f.startswith(f"{pid}.")] if os.path.isdir(place) else []


def stays(pid, uid=None):
    """The session files that a program has left behind after its end, once another has started: no list shows what goes then."""
    equal([s["path"] for s in listed() if s["pid"] == pid and s["state"] == "ended"], [], "sessions listed that ended")
    with Live() as other:
        other.end()
    return own_files(pid, uid)

# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What tests of running programs share: a program with a session of its own, and what its events do."""
from recording import *


def own_session(pid):
    """The session that a program has made for itself."""
    place = f"/dev/shm/burin-{os.geteuid()}"
    found = [f for f in os.listdir(place) if f.startswith(f"{pid}.")] if os.path.isdir(place) else []
    return os.path.join(place, found[0]) if found else None


def switches(pid):
    """{event: the first word of what it does}, as burin events says."""
    done = run(BURIN, "events", pid)
    return dict(map(reversed, re.findall(r"^(\w+) .*?([a-z]+\.[a-z]+)  ", done.out, re.M))) if done.status == 0 else {}


def ran_ns(pid):
    """Processor time of the threads that a process has, in ns."""
    ns = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as file:
            ns += int(file.read().split()[0])
    return ns


def let_work(pid, ms):
    """Until a process has had so much more processor time: how long that takes is its neighbours' doing."""
    end = ran_ns(pid) + ms * 1000000
    wait_until(lambda: ran_ns(pid) >= end, f"{ms} ms of processor time of {pid}", LIMIT_S)


class Program:
    """A program that runs; its session goes with it."""

    def __init__(self, *command, stdin=subprocess.DEVNULL, **env):
        self.process = start(*command, stdin=stdin, env=environment(**env))
        self.pid = self.process.pid
        wait_until(lambda: own_session(self.pid) and switches(self.pid), "the program's events")
        self.file = own_session(self.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        ended(self.process)
        if os.path.exists(self.file):
            os.unlink(self.file)

# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the tests of samples share: whether there are any, and the samples of a trace with its tables and its ledger."""
from recording import *

TABLES = os.path.join(PROGRAMS, "profile-tables")


def why_not(pattern):
    match = re.search(pattern, record("/bin/true", samples=True).err)
    return match.group(1) if match else None


UNSAMPLED = why_not(r"no samples: (.*); tracepoints")
REFUSED = UNSAMPLED or why_not(r"samples: (taken by a timer.*)")


def need_samples():
    if REFUSED:
        raise Skip(f"perf events are not permitted here: {REFUSED}")


def by_task():
    """A prefix with which the tasks' own events take the samples, not one event per CPU: for root, without the right to load BPF programs."""
    if os.geteuid() != 0:
        return ()
    need("setpriv")
    prefix = ("setpriv", "--bounding-set=-bpf,-sys_admin")
    if run(*prefix, "true").status != 0:
        raise Skip("setpriv cannot drop CAP_BPF here")
    return prefix


class Symbols:
    """Functions of an ELF file, by offset in the file."""

    def __init__(self, path):
        segments = [(int(m[0], 16), int(m[1], 16), int(m[2], 16)) for m in re.findall(
            r"^\s+LOAD\s+0x(\w+)\s+0x(\w+)\s+0x\w+\s+0x(\w+)", run("readelf", "-lW", path).out, re.M)]
        self.ranges = {}
        for address, size, name in re.findall(r"^(\w+) (\w+) [tT] (\w+)$", run("nm", "-S", path).out, re.M):
            for offset, begin, length in segments:
                if begin <= int(address, 16) < begin + length:
                    start = int(address, 16) - begin + offset
                    self.ranges[name] = (start, start + int(size, 16))

    def name(self, offset):
        return next((name for name, (begin, end) in self.ranges.items() if begin <= offset < end), None)


class Profile:
    """The samples of a trace, its tables, and its ledger, which must hold."""

    def __init__(self, path):
        self.path = path
        done = run(TABLES, path)
        check(done.status == 0, f"tables: {done.err}")
        self.images, self.tasks, self.stacks, self.contexts = {}, {}, {}, {}
        for line in done.out.split("\n")[:-1]:
            what, n, *rest = line.split("\t")
            if what == "image":
                self.images[int(n)] = dict(zip(("kind", "bytes", "id", "path"), (int(rest[0]), int(rest[1]), rest[2], rest[3])))
            elif what == "task":
                self.tasks[int(n)] = dict(zip(("tid", "pid", "since", "image"), map(int, rest[:4])), name=rest[4], path=rest[5])
            elif what == "stack":
                self.stacks[int(n)] = tuple(map(int, rest))
            else:
                self.contexts[int(n)] = dict(zip(("task", "stack"), map(int, rest)))
        with open(os.path.join(path, ".burin", "profile"), encoding="utf-8") as file:
            self.said = dict(line.split("=", 1) for line in file.read().splitlines())
        self.samples = [e for e in dump(path) if e["event"].startswith("sample.")]
        for sample in self.samples:
            sample["fields"].update(self.contexts[sample["fields"]["context"]])
        self.ledger()

    def ledger(self):
        said = {k: int(v) for k, v in self.said.items() if v.isdigit()}
        lost = sum(v for k, v in said.items() if k.startswith("lost."))
        equal(said["received"], said["attributed"] + lost, "received")
        equal(said["attributed"], len(self.samples), "attributed samples")
        check(said["complete"] + sum(v for k, v in said.items() if k.startswith("truncated.")) <= said["attributed"] + said["lost.write"], "more stacks than samples")
        equal(said["kernel"] + said["user"], said["attributed"], "samples of the kernel and of users")
        equal(info(self.path)["lost"]["full"], said["lost.ring"], "losses by the packets")
        for weight in (v for k, v in said.items() if k.startswith("weight.") and "counted" in said):
            check(said["counted"] >= weight * (said["received"] - said.get("off_cpu.received", 0) - said.get("wakers.received", 0)), "samples stand for more than was counted")
        for sample in self.samples:
            task = self.tasks.get(sample["fields"]["task"])
            check(task, f"a sample of a task that is not there: {short(sample)}")
            equal(task["tid"], sample["tid"], "tid of a task")
            check(sample["fields"]["stack"] in self.stacks, f"a sample of a stack that is not there: {short(sample)}")
        for n, (up, image, _) in self.stacks.items():
            check(1 <= up <= n and (image == 0 or image in self.images), f"stack {n} refers to {up}, {image}")

    def frames(self, sample):
        """(path of the image, offset), the innermost first."""
        n, out = sample["fields"]["stack"], []
        while n:
            up, image, offset = self.stacks[n]
            out.append((self.images[image]["path"] if image else None, offset))
            n = 0 if up == n else n - up
        return out

    def of(self, name):
        return [s for s in self.samples if self.tasks[s["fields"]["task"]]["name"] == name]

    def lost(self, cause):
        return int(self.said["lost." + cause])

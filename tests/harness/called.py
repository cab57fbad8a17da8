# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Programs that know their own calls, and the comparison with what a trace has.

Each stack of such a program writes a log (PRELUDE): a begin and an end of each call, as the program itself sees them. A
trace is right if it has the same calls of each stack, in the same order of begins and of ends, at the same depths; and shows
the calls as open that the log does not end.
"""
import struct

from cases import *

LIST = program("list-calls")

# BEGIN(id) and END() stand in each function; CUT(depth) is what a longjmp does. The log is a shared mapping, so it survives.
PRELUDE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pthread.h>

#define PLAIN __attribute__((no_instrument_function, patchable_function_entry(0)))
#define FORCED PLAIN static inline __attribute__((always_inline))
enum { ROOM = 1 << 22, DEPTH = 200000, JUMPS = 64 };
#define ENDED 0x80000000u

struct log {
	uint32_t *at;      /* the next entry: a function's id, or ENDED */
	uint32_t depth, most;
	uint64_t random;
	long budget;
	int jumps;
	void *jump[JUMPS];
	int child;
	uint32_t open[DEPTH]; /* ids of open calls */
};

PLAIN static uint32_t *log_file(const char *name)
{
	char path[256];
	int fd;
	uint32_t *memory;

	snprintf(path, sizeof(path), "%s/%s", getenv("LOGS"), name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)ROOM * 4) != 0)
		abort();
	memory = (uint32_t *)mmap(NULL, (size_t)ROOM * 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		abort();
	return memory;
}

PLAIN static void log_thread(struct log *l)
{
	char name[32];

	snprintf(name, sizeof(name), "tid-%d", (int)syscall(SYS_gettid));
	l->at = log_file(name);
}

/* A fork's child: what is open in its copy of the stack comes first. */
PLAIN static void log_child(struct log *l)
{
	log_thread(l);
	for (uint32_t n = 0; n < l->depth; n++)
		*l->at++ = l->open[n];
}

PLAIN static struct log *log_new(uint64_t seed)
{
	struct log *l = (struct log *)mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (l == MAP_FAILED)
		abort();
	l->random = seed * 0x9e3779b97f4a7c15u + 1;
	return l;
}

FORCED uint32_t pick(struct log *l, uint32_t below)
{
	l->random ^= l->random << 13;
	l->random ^= l->random >> 7;
	l->random ^= l->random << 17;
	return (uint32_t)(l->random >> 33) % below;
}

FORCED void begin(struct log *l, uint32_t id)
{
	l->open[l->depth++] = id;
	*(volatile uint32_t *)l->at = id;
	l->at++;
}

FORCED void end(struct log *l)
{
	l->depth--;
	*(volatile uint32_t *)l->at = ENDED;
	l->at++;
}

FORCED void cut(struct log *l, uint32_t depth)
{
	while (l->depth > depth)
		end(l);
}

FORCED int may_call(struct log *l)
{
	return l->depth < l->most && l->budget-- > 0;
}
"""


class Call:
    __slots__ = ("tid", "stack", "depth", "begin", "end", "name")

    def __init__(self, words):
        _, tid, stack, depth, begin, end, self.name = words
        self.tid, self.stack, self.depth, self.begin, self.end = int(tid), int(stack), int(depth), int(begin), int(end)

    def __repr__(self):
        return f"{self.name}@{self.depth}"


class Calls:
    """The calls of a trace: by thread, or by stack if threads had several."""

    def __init__(self, path, names="."):
        self.ended, self.open = {}, {}
        lines = made(LIST, path).splitlines()
        check(lines and lines[-1].startswith("end "), "list-calls did not come to its end")
        wanted = {}  # of a name
        for line in lines[:-1]:
            words = line.split(None, 6)
            name = words[6]
            if name not in wanted:
                wanted[name] = re.fullmatch(names, name)
            if wanted[name]:
                call = Call(words)
                (self.ended if words[0] == "call" else self.open).setdefault(call.stack or -call.tid, []).append(call)
        self.count = sum(map(len, self.ended.values()))

    def stacks(self):
        return set(self.ended) | set(self.open)

    def begins(self, stack):
        """[(depth, name)] in the order of begins, with the open calls."""
        every = self.ended.get(stack, []) + self.open.get(stack, [])
        return [(call.depth, call.name) for call in sorted(every, key=lambda call: (call.begin, call.depth))]

    def ends(self, stack):
        return [(call.depth, call.name) for call in self.ended.get(stack, [])]


class Log:
    """What a stack should have."""

    def __init__(self, path, name="f{}".format):
        self.begins, self.ends, open_calls, names = [], [], [], {}
        with open(path, "rb") as file:
            data = file.read()
        for (word,) in struct.iter_unpack("<I", data):
            if not word:
                break
            if word == 0x80000000:
                self.ends.append((len(open_calls) - 1, open_calls.pop()))
            else:
                text = names.get(word) or names.setdefault(word, name(word))
                self.begins.append((len(open_calls) & 0xffff, text))
                open_calls.append(text)
        self.ends = [(depth & 0xffff, text) for depth, text in self.ends]
        self.open = [(depth, text) for depth, text in enumerate(open_calls)]


def logs_of(place, name="f{}".format):
    """{file: Log} of a program that has run; a tid's key is what Calls uses."""
    found = {}
    for file in os.listdir(place):
        key = -int(file[4:]) if file.startswith("tid-") else file
        found[key] = Log(os.path.join(place, file), name)
    return found


def first_difference(got, wanted):
    for n, (one, other) in enumerate(zip(got, wanted)):
        if one != other:
            return f"at {n} of {len(wanted)}: {one} instead of {other}, before it {got[max(0, n - 4):n]}, then {got[n + 1:n + 4]}, wanted {wanted[n + 1:n + 4]}"
    return f"{len(got)} instead of {len(wanted)}, the next {(got or wanted)[min(len(got), len(wanted)):][:3]}"


def compare_stack(calls, stack, log):
    """Faults of one stack."""
    begins, ends = calls.begins(stack), calls.ends(stack)
    open_calls = [(call.depth, call.name) for call in sorted(calls.open.get(stack, []), key=lambda call: call.depth)]
    if begins != log.begins:
        yield f"stack {stack}, begins: {first_difference(begins, log.begins)}"
    if ends != log.ends:
        yield f"stack {stack}, ends: {first_difference(ends, log.ends)}"
    if open_calls != log.open:
        yield f"stack {stack}, open: {short(open_calls)} instead of {short(log.open)}"


def compare(calls, logs):
    """All faults."""
    for stack in calls.stacks() - set(logs):
        yield f"stack {stack} has calls but no log: {calls.begins(stack)[:3]}"
    for stack, log in logs.items():
        yield from compare_stack(calls, stack, log)


def compare_logs(calls, logs):
    """All faults: of threads by their tids, and of stacks of threads that had several by what was called on them."""
    own = {key for key in logs if key in calls.stacks()}
    for stack in own:
        yield from compare_stack(calls, stack, logs[stack])
    wanted = [(log.begins, log.ends, log.open) for key, log in logs.items() if key not in own and log.begins]
    for stack in calls.stacks() - own:
        found = (calls.begins(stack), calls.ends(stack), [(call.depth, call.name) for call in calls.open.get(stack, [])])
        if found in wanted:
            wanted.remove(found)
        else:
            yield f"stack {stack}, which has no log: {short(found)}"
    for missing in wanted:
        yield f"a log without a stack: {short(missing)}"


INSTRUMENT = ("-finstrument-functions",)
PATCHABLE = ("-fpatchable-function-entry=5",)


def built(name, text, compiler="gcc", options=("-O0",), suffix=".c", hooks=INSTRUMENT, libraries=()):
    """Compile a program with hooks. Return: its path."""
    need(compiler)
    source, path = fresh(name) + suffix, fresh(name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    made(compiler, "-w", "-g", *hooks, "-pthread", *options, source, "-o", path, *libraries, "-ldl")
    return path


def recorded(path, *arguments, options=(), status=0, env=None):
    """Run a program under --calls. Return: (the recording's directory, that of its logs)."""
    place, out = fresh("logs"), fresh()
    os.mkdir(place)
    done = run(BURIN, "record", "--calls", "-o", out, "--buffer", "16M", *options, "--", path, *arguments,
               env=environment(LOGS=place, **(env or {})))
    check(done.status == status, f"status {done.status} instead of {status}: {done.err[-300:]}")
    check("lost 0" in done.err, f"nothing must be lost: {done.err[-300:]}")
    return out, place

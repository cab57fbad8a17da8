# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What tests of `burin dump --syscalls` share: its lines, recordings without losses, and comparisons with strace."""
from kernel_events import *


def threads_and_calls(text):
    """(thread, call) of each line. Ids of processes stand right-aligned: one that has fewer digits than others has more blanks in front of it."""
    for line in text.splitlines():
        match = re.match(r" *-?[0-9.]+ +[0-9?]+/([0-9]+) +(?:\S+ +)?((?:[\w-]+\(|<\.\.\. ).*)$", line)
        check(match, f"a line that is no call: {line!r}")
        yield match.groups()


def lines(path, *options, paths=False):
    """What is printed behind the thread, of each line."""
    done = run(BURIN, "dump", "--syscalls", *([] if paths else ["--no-paths"]), *options, path)
    equal(done.status, 0, f"status ({done.err})")
    return [call for _, call in threads_and_calls(done.out)]


def whole_recording(make):
    """One without losses: with them no descriptor is known."""
    for _ in range(5):
        done = make()
        err = run(BURIN, "dump", "--syscalls", "-n", "1", done.path).err
        if "Descriptors have no paths: records were lost" not in err:
            check("no paths" not in err, err)
            return done
    check(False, err)


def with_paths(*words, cwd):
    """A recording of all calls."""
    return whole_recording(lambda: record(*words, options=[*kernel("syscalls:*"), "--kernel-buffer", "16M"], cwd=cwd))


def epoll_data(line):
    """What a program has epoll keep, by its lower half: Python does not initialize the other one. Later versions of strace print one number."""
    return re.sub(r", data=(?:\{u32=(\d+), u64=\d+\}|(0x[0-9a-f]+|\d+))",
                  lambda found: f", data={int(found[1] or found[2], 0) & 0xffffffff}", line)


def as_strace_prints(program, calls, same, least, paths=False):
    """Runs the Python program under both in one folder; `same` leaves out what differs in each run, with a dict for what it meets."""
    need_kernel()
    need("strace")
    place, out = fresh(), fresh()
    os.makedirs(place)
    os.symlink("a" * 100, os.path.join(place, "link"))
    words = [sys.executable, "-I", "-S", "-c", program]

    def chosen(all_lines, met):
        # A signal that no handler waits for interrupts a traced process only.
        all_lines = [re.sub(r"0x[0-9a-f]{7,}", "ADDRESS", re.sub(r"( E\w+) \([A-Z][^()]*\)$| <[0-9.]+>$", r"\1", re.sub(r"\) +=", ") =", epoll_data(line))))
                     for line in all_lines if line.split("(")[0] in calls and "ERESTART" not in line]
        # The set of all signals is the C library's, which is not in memory before its first use.
        all_lines = [line.replace("rt_sigprocmask(SIG_BLOCK, ~[],", "rt_sigprocmask(SIG_BLOCK, ADDRESS,") for line in all_lines]
        return [re.sub(r"\w+(\|\w+)+", lambda flags: "|".join(sorted(flags.group(0).split("|"))), same(line, met)) for line in all_lines]

    done = run("strace", "-s", "250", *(["-y"] if paths else []), "-o", out, *words, cwd=place)
    if done.status and "Operation not permitted" in done.err:
        raise Skip("strace may not trace here")
    os.unlink(os.path.join(place, "file"))
    with open(out, encoding="utf-8") as file:
        theirs = chosen((line.rstrip("\n") for line in file), {})
    done = with_paths(*words, cwd=place) if paths else record(*words, options=kernel("syscalls:*"), cwd=place)
    first = re.match(r" *[0-9.]+ +(\d+)/", run(BURIN, "dump", "--syscalls", done.path).out).group(1)
    text = run(BURIN, "dump", "--syscalls", *([] if paths else ["--no-paths"]), "--pid", first, done.path).out
    own = chosen([re.sub(r"^ *[0-9.]+ +\S+ +\S+ +", "", line) for line in text.splitlines()], {})
    check(len(theirs) > least, f"strace printed {len(theirs)} lines")
    for number, (one, other) in enumerate(zip(own, theirs)):
        equal(one, other, f"line {number}, beside strace's")
    equal(len(own), len(theirs), "lines")
    return done.path

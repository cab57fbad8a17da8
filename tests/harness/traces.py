# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Recordings of the program `sequence`, whose traces must be prefixes of what it counts."""
import glob

from cases import *

BURSTS, RECORDS, TEXT = 3, 420, 1000
SEQUENCE = program("sequence")
RECORD = re.compile(r"seq\.count: \{ cpu_id = (\d+) \}, .*\{ on = (\d+), n = (\d+), text = \"(x*)\" \}")


def sequence(bursts=BURSTS, pause_ms=12):
    return [SEQUENCE, bursts, RECORDS, TEXT, pause_ms]


def remove_sessions(pid):
    for path in glob.glob(f"/dev/shm/burin-{os.geteuid()}/{pid}-*"):
        os.unlink(path)


def recording_state(trace):
    """.burin/recording as a dict; {} if there is none yet."""
    try:
        with open(os.path.join(trace, ".burin", "recording"), errors="replace", encoding="utf-8") as file:
            lines = file.read().split("\n")
    except FileNotFoundError:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)


def streams(trace):
    try:
        return [name for name in os.listdir(trace) if re.match(r"(cpu|locked|names)", name)]
    except FileNotFoundError:
        return []


def counted(trace, holes=False):
    """{cpu: records} of a trace. Every stream must be a prefix of its CPU's records; with holes some may be missing."""
    need("babeltrace2")
    if not os.path.exists(os.path.join(trace, "metadata")):
        check(not streams(trace), f"there are streams {streams(trace)} and no metadata")
        return {}
    if not streams(trace):
        return {}
    done = run("babeltrace2", trace)
    errors = [line for line in done.lines() if "discarded" not in line]
    check(done.status == 0 and not errors, f"babeltrace2: status {done.status}: {' | '.join(errors)[-600:]}")
    counts = {}
    for line in done.out.splitlines():
        match = RECORD.search(line)
        if not match:
            check("seq.count" not in line, f"a line of babeltrace2 is not understood: {line[:200]}")
            continue
        on, n = int(match[2]), int(match[3])
        before = counts.get(on, 0)
        check(n == before or (n > before and holes), f"stream {on}: record {n} instead of {before}")
        equal(len(match[4]), TEXT, f"stream {on}: bytes of the text of record {n}")
        counts[on] = n + 1
    return counts

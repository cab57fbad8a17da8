# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What kill.test and full.test share: reading a trace of sequence.c with babeltrace2, and cleaning up."""
import glob
import os
import re
import shutil
import subprocess
import sys

RECORD = re.compile(r"seq\.count: \{ cpu_id = (\d+) \}, .*\{ on = (\d+), n = (\d+), text = \"(x*)\" \}")


class Wrong(Exception):
    pass


def session_directory():
    return f"/dev/shm/burin-{os.geteuid()}"


def remove_sessions(pid):
    for path in glob.glob(f"{session_directory()}/{pid}-*"):
        os.unlink(path)


def recording(trace):
    """.burin/recording as a dict; {} if there is none yet."""
    try:
        with open(os.path.join(trace, ".burin", "recording"), errors="replace") as file:
            lines = file.read().split("\n")
    except FileNotFoundError:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)


def streams(trace):
    try:
        return [name for name in os.listdir(trace) if re.match(r"(cpu|locked|names)", name)]
    except FileNotFoundError:
        return []


def read(trace, text, holes=False):
    """{cpu: records} of a trace whose every stream is a prefix of what was recorded, or lacks some (holes). Raises Wrong."""
    if not os.path.exists(os.path.join(trace, "metadata")):
        if streams(trace):
            raise Wrong(f"there are streams {streams(trace)} and no metadata")
        return {}
    if not streams(trace):
        return {}
    result = subprocess.run(["babeltrace2", trace], capture_output=True, text=True, errors="replace")
    errors = [line for line in result.stderr.splitlines() if "discarded" not in line]
    if result.returncode or errors:
        raise Wrong(f"babeltrace2: status {result.returncode}: {' | '.join(errors)[-600:]}")
    counts = {}
    for line in result.stdout.splitlines():
        match = RECORD.search(line)
        if not match:
            if "seq.count" in line:
                raise Wrong(f"a line of babeltrace2 is not understood: {line[:200]}")
            continue
        on, n = int(match[2]), int(match[3])
        if n < counts.get(on, 0) or (n > counts.get(on, 0) and not holes):
            raise Wrong(f"stream {on}: record {n} instead of {counts.get(on, 0)}")
        if len(match[4]) != text:
            raise Wrong(f"stream {on}: record {n} has a text of {len(match[4])} bytes")
        counts[on] = n + 1
    return counts


def need(condition, why):
    if not condition:
        print(f"skip {os.path.basename(sys.argv[0])}: {why}")
        sys.exit(77)


def remove(trace):
    shutil.rmtree(trace, ignore_errors=True)

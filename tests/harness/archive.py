# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The archive (cpio) of a Linux machine's first files."""
FOLDER, PROGRAM = 0o40755, 0o100755


def entry(name, mode, data):
    numbers = (1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % number for number in numbers) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def write(path, entries):
    """entries: [(path there, mode, bytes)]."""
    with open(path, "wb") as file:
        file.writelines(entry(*one) for one in [*entries, ("TRAILER!!!", 0, b"")])

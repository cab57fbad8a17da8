# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Profiles made of tables, without a recording, and the table of symbols, read byte by byte, by docs/format.md."""
import ctypes
import functools
import struct

from places import *

MAGICS = {"tasks": b"TBSK", "images": b"BIMG", "stacks": b"BSTK", "symbols": b"BSYM"}
FILE, KERNEL, JIT = 1, 2, 6
zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
SOURCE = "#include <stdlib.h>\n__attribute__((noinline)) int work(int a)\n{\n\treturn rand() + a;\n}\nint main(int argc, char **argv)\n{\n" \
         "\t(void)argv;\n\treturn work(argc);\n}\n"


def leb(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def entry(*fields):
    return b"".join(leb(f) if isinstance(f, int) else leb(len(f)) + f for f in fields)


def table(kind, entries):
    data = b"".join(entries)
    block = struct.pack("<IIII", len(data), len(data), len(entries), 0) + data if entries else b""
    return MAGICS[kind] + struct.pack("<IQ", 1, 0) + block


@functools.cache
def empty():
    path = fresh("empty")
    equal(run(BURIN, "record", "--no-samples", "-q", "-o", path, "--", "true").status, 0, "an empty trace")
    return path


def profile(images, stacks):
    """A trace without samples, but with their tables."""
    path = fresh("trace")
    shutil.copytree(empty(), path)
    for kind, entries in (("tasks", []), ("images", images), ("stacks", stacks)):
        with open(os.path.join(path, ".burin", kind), "wb") as file:
            file.write(table(kind, entries))
    with open(os.path.join(path, ".burin", "profile"), "w", encoding="utf-8") as file:
        file.write("state=ended\nreceived=0\nattributed=0\n")
    return path


def numbers(data):
    """Yields one number after the other; send(n) reads n bytes."""
    at = 0
    while at < len(data):
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        want = yield value
        if want is not None:
            text = data[at:at + value]
            at += value
            yield text


def read(path):
    """(places {(image, offset): (begin, size, [(name, file, line)])}, images {number: (state, hint)})"""
    with open(os.path.join(path, ".burin", "stacks"), "rb") as file:
        stacks = list(numbers(file.read()[32:]))
    functions = {}
    with open(os.path.join(path, ".burin", "symbols"), "rb") as file:
        data = file.read()
    equal(data[:16], MAGICS["symbols"] + struct.pack("<IQ", 1, 0), "header")
    at, texts, places, images = 16, [""], {}, {}
    while at < len(data):
        size, stored, count, zero = struct.unpack_from("<IIII", data, at)
        block = data[at + 16:at + 16 + stored]
        equal((len(block), zero), (stored, 0), "bytes of a block")
        if stored < size:
            out = ctypes.create_string_buffer(size)
            equal(zstd.ZSTD_decompress(out, ctypes.c_size_t(size), block, ctypes.c_size_t(stored)), size, "uncompressed bytes")
            block = out.raw
        at += 16 + stored
        stream = numbers(block)
        entries = 0
        for what in stream:
            entries += 1
            if what == 1:
                texts.append(text_of(stream))
            elif what == 2:
                image, offset, begin, length, frames = (next(stream) for _ in range(5))
                check((image, offset) not in places, f"place {image} {offset:x} twice")
                places[image, offset] = (begin, length, [(texts[next(stream)], texts[next(stream)], next(stream)) for _ in range(frames)])
            elif what == 4:
                image, begin, length, text = (next(stream) for _ in range(4))
                functions[image, begin] = (begin, length, [(texts[text], "", 0)] if text else [])
            else:
                equal(what, 3, "what")
                number, state = next(stream), next(stream)
                images[number] = (STATES[state], text_of(stream))
        equal(entries, count, "entries of a block")
    for place in zip(stacks[1::3], stacks[2::3]):
        begin, length, frames = functions.get(max((f for f in functions if f[0] == place[0] and f <= place), default=None), (0, 0, []))
        if place not in places and place[1] - begin < length:
            places[place] = (begin, length, frames)
    return places, images


def text_of(stream):
    next(stream)
    return stream.send(True).decode()


def identity(path):
    return bytes.fromhex(re.search(r"Build ID: (\w+)", made("readelf", "-n", path)).group(1))

# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Files of kernels that have their functions for themselves (kallsyms), as they are booted."""
import gzip
import lzma
import struct
import subprocess

BASE = 0xffffffff81000000
TOKENS = [chr(code) if 0x20 < code < 0x7f else f"token_{code:x}_" for code in range(256)]
ORDERS = ("6.1", "6.2", "6.4")  # versions of Linux since which tables have an order
# An alias, a variable, a long name, and as many that there are several markers. What a CPU has for itself may have low addresses.
FUNCTIONS = [(BASE, "T", "_stext"), (BASE, "T", "start_kernel"), *((BASE + 0x100 + 16 * n, "tTwW"[n % 4], f"function_{n}") for n in range(600)),
             (BASE + 0x8000, "t", "long_" * 90), (BASE + 0x9000, "D", "variable"), (BASE + 0x9010, "T", TOKENS[1] + "last")]


def aligned(data):
    return data + bytes(-len(data) % 8)


def coded(text):
    codes = b""
    while text:
        code = next((n for n, token in enumerate(TOKENS) if len(token) > 1 and text.startswith(token)), ord(text[0]))
        codes, text = codes + bytes([code]), text[len(TOKENS[code]):]
    return (bytes([len(codes)]) if len(codes) < 0x80 else bytes([len(codes) & 0x7f | 0x80, len(codes) >> 7])) + codes


def tables(functions=FUNCTIONS, order="6.4", absolute=False, base=BASE):
    """The tables of a kernel. absolute: low addresses are there as they are, others below 0. base: as the tables have it."""
    names = [coded(kind + name) for _, kind, name in functions]
    places = [sum(map(len, names[:n])) for n in range(0, len(names), 256)]
    offsets = [address if address < 1 << 31 else BASE - 1 - address if absolute else address - BASE for address, _, _ in functions]
    texts = [token.encode() + b"\0" for token in TOKENS]
    index = [sum(map(len, texts[:n])) for n in range(256)]
    addresses = aligned(struct.pack(f"<{len(offsets)}i", *offsets)) + struct.pack("<Q", base)
    by_name = aligned(bytes(3 * len(names)))
    named = struct.pack("<Q", len(names)) + aligned(b"".join(names)) + aligned(struct.pack(f"<{len(places)}I", *places))
    tokens = aligned(b"".join(texts)) + struct.pack("<256H", *index)
    if order == "6.4":
        return named + tokens + addresses + by_name
    return addresses + named + (by_name if order == "6.2" else b"") + tokens


def elf(part):
    """A file of which a part is loaded."""
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, BASE, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    return (head + struct.pack("<IIQQQQQQ", 1, 5, 256, BASE, BASE, len(part), len(part), 256)).ljust(256, b"\0") + part


def image(part):
    """A kernel of aarch64."""
    return (bytes(56) + b"ARM\x64").ljust(256, b"\0") + part


def packed(data, how):
    if how == "gzip":
        return gzip.compress(data)
    if how in ("xz", "lzma"):
        data, size = lzma.compress(data, lzma.FORMAT_XZ if how == "xz" else lzma.FORMAT_ALONE), len(data)
    else:
        tool = {"zstd": ["zstd", "-c"], "lz4": ["lz4", "-l", "-c"]}[how]
        data, size = subprocess.run(tool, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout, len(data)
    return data + struct.pack("<I", size)


def booted(payload, protocol=0x20f):
    """A kernel for x86, with the code that would unpack it."""
    head = bytearray(2 * 512 + 64)  # a sector of code
    head[0x1f1] = 1
    head[0x202:0x208] = b"HdrS" + struct.pack("<H", protocol)
    head[0x248:0x250] = struct.pack("<II", 64, len(payload))
    return bytes(head) + payload


def efi(payload):
    """A kernel for other architectures, with a loader for EFI."""
    return (b"MZ\0\0zimg" + struct.pack("<II", 64, len(payload))).ljust(64, b"\0") + payload

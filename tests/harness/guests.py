# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Machines in QEMU, and what they run."""
import glob
import platform
import struct

from recording import *

QEMU = "qemu-system-x86_64"
HERE = os.path.join(TOP, "tests", "programs")
KERNEL = os.path.join(BUILD, "tests", "guest-kernel")  # downloaded once


def need_qemu():
    need(QEMU)
    version = re.search(r"version (\d+)", made(QEMU, "--version"))
    if not version or int(version[1]) < 10:
        raise Skip("QEMU 10 is not installed; scripts/install-packages check")
    if platform.machine() != "x86_64":
        raise Skip("the plugin's guests are of x86-64")


def machine(*arguments):
    """A command that runs a machine without a screen and network."""
    return [QEMU, "-M", "q35", "-m", "256", "-display", "none", "-vga", "none", "-nic", "none", "-no-reboot", *arguments]


def recorded(command, *options, status=0):
    """Record a machine. Return: the trace's path and what the command printed."""
    path = fresh()
    done = run(BURIN, "record", "-o", path, "--guest", "--guest-report", *options, "--", *command)
    equal(done.status, status, f"status ({done.err[-400:]})")
    check(re.search(r", lost 0$", done.err, re.M), f"losses: {done.err[-400:]}")
    return path, Report(done.err)


class Report:
    """The line of --guest-report."""

    def __init__(self, text):
        found = re.search(r"guest: (\d+) calls, (\d+) returns, (\d+) of them without a call", text)
        check(found, f"no report: {text[-300:]}")
        self.calls, self.returns, self.unmatched = map(int, found.groups())


def named(path, *guests):
    words = [word for guest in guests for word in ("--guest", guest)]
    made(BURIN, "symbols", "-q", "--force", *words, path)
    equal(run(BURIN, "check", path).status, 0, "burin check")


def rows(path):
    """[(function, image, calls)] of all functions."""
    table = json.loads(made(BURIN, "report", "--calls", "--json", "--min", "0", path))
    return [(row["symbol"], row["image"], row["calls"]) for row in table["rows"]]


def counts(path, names):
    found = collections.Counter()
    for function, image, calls in rows(path):
        if function in names:
            found[function] += calls
    return dict(found)


def bare_program():
    """A program for a machine without an operating system."""
    need("gcc")
    path = os.path.join(fresh("bare"), "bare")
    os.makedirs(os.path.dirname(path))
    made("gcc", "-m32", "-O1", "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fcf-protection=none",
         "-fno-asynchronous-unwind-tables", "-Wl,-Ttext=0x101000,--section-start=.multiboot=0x100000,--build-id=none", "-o", path,
         os.path.join(HERE, "guest-bare.c"))
    return path


def init_program(name="guest-init", *options):
    need("gcc")
    path = os.path.join(fresh("init"), name)
    os.makedirs(os.path.dirname(path))
    made("gcc", "-O1", "-pthread", *options, "-o", path, os.path.join(HERE, "guest-init.c"))
    return path


def archive_entry(name, mode, data):
    numbers = (1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % number for number in numbers) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def initial_files(init):
    """The archive (cpio) of a machine whose first process is a program."""
    path = fresh("initrd")
    with open(init, "rb") as program, open(path, "wb") as archive:
        archive.write(archive_entry("proc", 0o40755, b"") + archive_entry("init", 0o100755, program.read()) + archive_entry("TRAILER!!!", 0, b""))
    return path


def debian_kernel():
    """The kernel of Debian's package for virtual machines, which is unpacked and not installed."""
    found = glob.glob(os.path.join(KERNEL, "boot", "vmlinuz-*"))
    if found:
        return found[0]
    need("apt-get")
    depends = run("apt-cache", "depends", "--important", "linux-image-cloud-amd64").out
    package = re.search(r"Depends: (linux-image-\S+)", depends)
    place = fresh("package")
    os.mkdir(place)
    if not package or run("apt-get", "download", package[1], cwd=place).status != 0:
        raise Skip("Debian's kernel cannot be downloaded (apt-get download linux-image-cloud-amd64)")
    made("dpkg-deb", "--fsys-tarfile", *glob.glob(f"{place}/*.deb"), stdout=open(f"{place}/files.tar", "wb"))
    made("tar", "--directory", place, "--wildcards", "-xf", f"{place}/files.tar", "./boot/vmlinuz-*")
    shutil.rmtree(KERNEL, True)
    shutil.move(place, KERNEL)
    for rest in glob.glob(f"{KERNEL}/*.deb") + [f"{KERNEL}/files.tar"]:
        os.remove(rest)
    return glob.glob(os.path.join(KERNEL, "boot", "vmlinuz-*"))[0]


UNPACK = {b"\x02\x21\x4c\x18": "lz4", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zX": "xz", b"\x1f\x8b\x08\x00": "gzip"}


def kernel_types():
    """That kernel as an ELF file, with its type information and without symbols. A loader for x86 is around it."""
    path = os.path.join(KERNEL, "vmlinux")
    packed = open(debian_kernel(), "rb").read()
    if not os.path.exists(path):
        begin = (packed[0x1f1] + 1) * 512 + struct.unpack_from("<I", packed, 0x248)[0]
        tool = UNPACK.get(packed[begin:begin + 4], "a tool that is not known")
        need(tool)
        new = fresh("vmlinux")
        # Behind the data is its length, which the tools take for more data.
        run("sh", "-c", f'tail -c +{begin + 1} "$1" | head -c {struct.unpack_from("<I", packed, 0x24c)[0] - 4} | {tool} -dc > "$2"', "sh", debian_kernel(), new)
        shutil.move(new, path)
    return path

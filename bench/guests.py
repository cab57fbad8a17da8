# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Rows of bench/run about the calls of a machine in QEMU: a boot of Debian's kernel, which ends in a panic without a root."""
import glob
import json
import os
import re
import shutil
import statistics
import sys

from common import ROUNDS, Failed, Skipped, call, first_line

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(TOP, "tests", "harness"))
import archive

QEMU, ARM = "qemu-system-x86_64", "qemu-system-aarch64"
PART = "ffffffff81200000-ffffffff81300000"
TURNS = min(ROUNDS, 5)
WORK = 20000  # turns of each busy program; each turn makes 101 calls


class Guests:
    def machine(self, qemu, kind, test, *arguments):
        """A command that boots Debian's kernel."""
        version = re.search(r"version (\d+)", first_line([qemu, "--version"]))
        if not version or int(version[1]) < 10:
            raise Skipped("QEMU 10 is not installed; scripts/install-packages check")
        kernels = glob.glob(os.path.join(self.build, "tests", f"guest-kernel-{kind}", "boot", "vmlinuz-*"))
        if not kernels:
            raise Skipped(f"Debian's kernel is not here; tests/source/guest/{test} BUILD downloads it")
        return [qemu, *arguments, "-m", "256", "-display", "none", "-nic", "none", "-serial", "null", "-no-reboot", "-kernel", kernels[0]]

    def boot(self):
        """One boot needs no file system: nothing but the kernel is compared."""
        return [*self.machine(QEMU, "amd64", "guest.test", "-M", "q35", "-vga", "none"), "-append", "quiet panic=-1 nokaslr"]

    def boot_arm(self):
        return [*self.machine(ARM, "arm64", "aarch64.test", "-M", "virt", "-cpu", "cortex-a72"), "-append", "quiet panic=-1 nokaslr"]

    def work(self, processors):
        """Linux with busy programs as many as processors. Return: the command, and the program."""
        machine, folder = self.machine(QEMU, "amd64", "guest.test", "-M", "q35", "-vga", "none"), os.path.dirname(self.trace_dir)
        init, files = os.path.join(folder, "init"), os.path.join(folder, "init.cpio")
        if not shutil.which("gcc"):
            raise Skipped("gcc is not installed; scripts/install-packages check")
        call(["gcc", "-O1", "-static", "-pthread", "-o", init, os.path.join(TOP, "tests", "programs", "guest-init.c")])
        with open(init, "rb") as program:
            archive.write(files, [("init", archive.PROGRAM, program.read())])
        return [*machine, "-initrd", files, "-smp", str(processors), "-append", f"quiet panic=-1 nokaslr -- work {processors} {WORK}"], init

    def check_work(self, init, processors):
        """Each program has its calls, and none of the other's."""
        call([self.burin, "symbols", "-q", "--force", "--guest", f"prog={init}", self.trace_dir])
        table = json.loads(call([self.burin, "report", "--calls", "--json", "--min", "0", "--by", "symbol,tid", self.trace_dir]))
        calls = [row["calls"] for row in table["rows"] if row["symbol"] == "recursion"]
        if calls != [WORK * 50] * processors:
            raise Failed(f"calls of {processors} programs: {calls}")

    def work_ratio(self, processors):
        """How much longer the machine's work takes when it is recorded, in turns; and the least of both."""
        command, init = self.work(processors)
        bare, ours = [], []
        for _ in range(TURNS):
            bare.append(self.processor_time(command))
            shutil.rmtree(self.trace_dir, ignore_errors=True)
            ours.append(self.processor_time([self.burin, "record", "-q", "--no-symbols", "--buffer", "256M", "--buffer-max", "256M", "-o", self.trace_dir,
                                             "--guest", "--", *command]))
            if self.info("trace")["lost_all"]:
                raise Failed("records were lost")
            self.check_work(init, processors)
            shutil.rmtree(self.trace_dir)
        return statistics.median(my / none for my, none in zip(ours, bare)), statistics.median(ours), statistics.median(bare)

    def row_guestsmp(self):
        one, _, _ = self.work_ratio(1)
        two, ours, bare = self.work_ratio(2)
        return (f"{two:.2f}x", f"no plugin {bare:.2f} s, ours {ours:.2f} s; one program on one processor {one:.2f}x; each has its calls",
                f"{two / one:.2f}x of one", two / one <= 1.1, two / one)

    def processor_time(self, command):
        """Seconds of a command and what it starts."""
        before = os.times()
        call(command)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    def guest_row(self, goal, *options, boot=None):
        boot = boot or self.boot()
        bare, ours, info = [], [], {}
        for _ in range(TURNS):
            bare.append(self.processor_time(boot))
            shutil.rmtree(self.trace_dir, ignore_errors=True)
            ours.append(self.processor_time([self.burin, "record", "-q", "--no-symbols", "-o", self.trace_dir, "--guest", *options, "--", *boot]))
            info = self.info("trace")
            size = sum(os.path.getsize(name) for name in glob.glob(f"{self.trace_dir}/cpu*"))
            shutil.rmtree(self.trace_dir)
        ratio = statistics.median(my / none for my, none in zip(ours, bare))
        return (f"{statistics.median(ours):.2f} s", f"no plugin {statistics.median(bare):.2f} s; {info['records']:,} records, {size >> 20} MiB, "
                f"{info['lost_all']:,} lost", f"{ratio:.2f}x, least {min(ours) / min(bare):.2f}x", ratio <= goal, ratio)

    def row_guest(self):
        return self.guest_row(1.4)

    def row_guestpart(self):
        return self.guest_row(1.1, "--guest-range", PART)

    def row_guestarm(self):
        return self.guest_row(1.6, boot=self.boot_arm())


GUEST_ROWS = {
    "guest": ("a boot of Debian's kernel in QEMU, all calls, processor time", "burin record --guest -- qemu-system-x86_64 -kernel vmlinuz",
              f"median of {TURNS}", "<= 1.4x of no plugin"),
    "guestpart": ("the same, calls of 1 MiB of the kernel's code", f"burin record --guest --guest-range {PART} -- qemu-system-x86_64",
                  f"median of {TURNS}", "<= 1.1x of no plugin"),
    "guestarm": ("a boot of Debian's kernel for arm64, all calls, processor time", "burin record --guest -- qemu-system-aarch64 -M virt -kernel vmlinuz",
                 f"median of {TURNS}", "<= 1.6x of no plugin"),
    "guestsmp": ("two busy programs on two processors, all calls, processor time", "burin record --guest -- qemu-system-x86_64 -smp 2",
                 f"median of {TURNS}", "<= 1.1x of one program on one processor"),
}

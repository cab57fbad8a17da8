# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Rows of bench/run about the calls of a machine in QEMU: a boot of Debian's kernel, which ends in a panic without a root."""
import glob
import os
import re
import shutil
import statistics

from common import ROUNDS, Skipped, call, first_line

QEMU = "qemu-system-x86_64"
PART = "ffffffff81200000-ffffffff81300000"
TURNS = min(ROUNDS, 5)


class Guests:
    def boot(self):
        """The command that boots. One boot needs no file system: nothing but the kernel is compared."""
        version = re.search(r"version (\d+)", first_line([QEMU, "--version"]))
        if not version or int(version[1]) < 10:
            raise Skipped("QEMU 10 is not installed; scripts/install-packages check")
        kernels = glob.glob(os.path.join(self.build, "tests", "guest-kernel-amd64", "boot", "vmlinuz-*"))
        if not kernels:
            raise Skipped("Debian's kernel is not here; tests/source/guest/guest.test BUILD downloads it")
        return [QEMU, "-M", "q35", "-vga", "none", "-m", "256", "-display", "none", "-nic", "none", "-serial", "null", "-no-reboot",
                "-kernel", kernels[0], "-append", "quiet panic=-1 nokaslr"]

    def processor_time(self, command):
        """Seconds of a command and what it starts."""
        before = os.times()
        call(command)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    def guest_row(self, goal, *options):
        boot = self.boot()
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


GUEST_ROWS = {
    "guest": ("a boot of Debian's kernel in QEMU, all calls, processor time", "burin record --guest -- qemu-system-x86_64 -kernel vmlinuz",
              f"median of {TURNS}", "<= 1.4x of no plugin"),
    "guestpart": ("the same, calls of 1 MiB of the kernel's code", f"burin record --guest --guest-range {PART} -- qemu-system-x86_64",
                  f"median of {TURNS}", "<= 1.1x of no plugin"),
}

#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The first process of a machine that tests/harness/kernels.py boots. It runs /script and gives each result a serial line of its own:
# ttyS0 has the kernel's log, ttyS1 what the script prints, ttyS2 the files that it left in /out.
/bin/busybox mkdir -p /bin /proc /sys /dev /tmp /out /usr/bin /usr/sbin /sbin
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/bin:/usr/sbin NO_COLOR=1 HOME=/tmp
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
mount -t tmpfs none /out
mount -t tracefs none /sys/kernel/tracing
mount -t debugfs none /sys/kernel/debug 2>/dev/null
mount -t securityfs none /sys/kernel/security 2>/dev/null
ifconfig lo 127.0.0.1 up
stty -F /dev/ttyS1 raw -echo
stty -F /dev/ttyS2 raw -echo

# A part of the output, which the caller finds by its name.
part() { echo "== $*"; }

cd /tmp
(. /script) >/dev/ttyS1 2>&1 </dev/null
echo "== end $?" >/dev/ttyS1
cd /out
[ -z "$(ls -A)" ] || tar -czf - . >/dev/ttyS2
poweroff -f

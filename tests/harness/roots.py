# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Fresh roots of Debian, in which a test installs what it likes."""
from cases import *


class Root:
    """A minimal root of a release of Debian, with these packages. It goes with the test's folder."""

    def __init__(self, suite, packages=()):
        need("mmdebstrap")
        if os.geteuid() != 0:
            raise Skip("a root of its own needs root")
        self.path = os.path.join(folder, f"root-{suite}")
        done = run("mmdebstrap", "--quiet", "--variant=minbase", *([f"--include={','.join(packages)}"] if packages else []), suite, self.path,
                   "http://deb.debian.org/debian", limit=1800)
        if done.status:
            raise Skip(f"no fresh root of {suite}: {done.err.strip()[-200:]}")
        # Names of hosts are looked up as outside.
        shutil.copy("/etc/resolv.conf", os.path.join(self.path, "etc", "resolv.conf"))

    def __call__(self, script, limit=1800):
        """What a shell script prints, with errors among it. It must succeed."""
        done = self.tried(script, limit)
        check(done.status == 0, f"status {done.status}: {done.out[-600:]}")
        return done.out

    def tried(self, script, limit=1800):
        # The root of a mount namespace rather than a chroot: programs may make namespaces in it.
        mounts = ["mount --bind $0 $0", "cd $0", "mount -t proc proc proc", "mount --rbind /sys sys", "mount --rbind /dev dev",
                  "mount -t tmpfs -o mode=1777 none dev/shm", "mount -t tmpfs -o mode=1777 none tmp", "pivot_root . mnt", "umount -l /mnt"]
        return run("unshare", "--mount", "--pid", "--fork", "sh", "-ec", "; ".join(mounts) + '; cd /; exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv '
                   'LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -ec "exec 2>&1; $1"', self.path, script, limit=limit)

    def files(self):
        return set(made("find", self.path, "-xdev", "-printf", "/%P%y\n").splitlines())

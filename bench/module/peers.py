# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""LTTng's modules of the kernel, from Debian's package, built for a kernel of tests/harness/kernels.py."""
from kernels import *

# In the order in which they are loaded.
LTTNG_ORDER = ("lttng-wrapper", "lttng-lib-ring-buffer", "lttng-clock", "lttng-kprobes", "lttng-kretprobes", "lttng-uprobes", "lttng-statedump",
               "lttng-tracer", "lttng-ring-buffer-client-mmap-overwrite", "lttng-probe-sched")


def lttng_modules(version):
    """[path of each module, in order]. The probe of timers is left out: it does not compile with Debian's own kernel, where
    trace_hrtimer_start has other arguments."""
    headers = kernel_headers(version)
    place = os.path.join(KEPT, f"lttng-{os.path.basename(headers)}")
    with locked(f"lttng-{version}"):
        if not os.path.isdir(place):
            new = fresh("lttng")
            os.mkdir(new)
            if run("apt-get", "download", "lttng-modules-dkms", cwd=new).status != 0:
                raise Skip("LTTng's modules cannot be downloaded (apt-get download lttng-modules-dkms)")
            made("dpkg-deb", "--extract", *glob.glob(f"{new}/*.deb"), new)
            (source,) = glob.glob(f"{new}/usr/src/lttng-modules-*")
            probes = os.path.join(source, "src", "probes", "Kbuild")
            text = open(probes, encoding="utf-8").read()
            with open(probes, "w", encoding="utf-8") as file:
                file.write(text.replace("lttng-probe-timer.o", ""))
            made("make", f"-j{os.cpu_count()}", "-C", headers, f"M={source}", "CONFIG_LTTNG=m", "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules", limit=1800)
            shutil.move(source, place)
    found = {os.path.basename(path)[:-3]: path for path in glob.glob(f"{place}/src/**/*.ko", recursive=True)}
    return [found[name] for name in LTTNG_ORDER]

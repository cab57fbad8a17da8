// SPDX-License-Identifier: GPL-2.0-only
/*
 * burin.ko: Burin's session of the kernel. It is a session as programs have, in the module's memory; commands map it by
 * /dev/burin, read it as a program's and change it by requests. docs/design/module.md describes it.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/timekeeping.h>
#ifdef CONFIG_X86_TSC
#include <asm/pvclock.h>
#endif

#include "debugfs.h"
#include "device.h"
#include "events.h"
#include "memory.h"
#include "record.h"
#include "session/events/rules.h"
#include "source/tracepoint/fields/serialize.h"

static unsigned long buffer = 1 << 20;
module_param(buffer, ulong, 0444);
MODULE_PARM_DESC(buffer, "bytes of each CPU's ring");
static unsigned long buffer_max = 16 << 20;
module_param(buffer_max, ulong, 0444);
MODULE_PARM_DESC(buffer_max, "to which it can be enlarged later");
static unsigned long packet = 32 << 10;
module_param(packet, ulong, 0444);
MODULE_PARM_DESC(packet, "bytes of a packet");
static unsigned int string_max = 240;
module_param(string_max, uint, 0444);
MODULE_PARM_DESC(string_max, "limit of a recorded string, bytes");
static char *mode = "flight";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode,
		 "flight: overwrite the oldest records; stream: lose the newest until a reader consumes");
static char *clock = "";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock, "tsc or mono; default: as the kernel's own clock");
static bool texts = true;
module_param(texts, bool, 0444);
MODULE_PARM_DESC(texts, "0: record the addresses of paths and other texts of system calls, not the texts");
static char *enable = "";
module_param(enable, charp, 0444);
MODULE_PARM_DESC(enable, "events that are on from the start: GLOB,...");

enum {
	BUFFER_MAX = 1 << 30,
	STRING_MAX = 1024,
};

static enum cpuhp_state hotplug;

#ifdef CONFIG_X86_TSC
/*
 * The time of a guest's clock (kvm-clock) for a value of the counter; 0: it has none, or the host does not promise that the counters of
 * all processors agree, and that their rate never changes. The rule is that of programs (src/session/clock.c).
 */
static u64 guest_clock_at(u64 ticks)
{
	const struct pvclock_vsyscall_time_info *page = pvclock_get_pvti_cpu0_va();
	unsigned int version;
	bool stable;
	u64 ns;

	if (!page || !boot_cpu_has(X86_FEATURE_NONSTOP_TSC))
		return 0;
	do {
		version = pvclock_read_begin(&page->pvti);
		ns = __pvclock_read_cycles(&page->pvti, ticks);
		stable = page->pvti.flags & PVCLOCK_TSC_STABLE_BIT;
	} while (pvclock_read_retry(&page->pvti, version));
	return stable ? ns : 0;
}
#endif

/* Whether the kernel's own clock is the processor's counter, or computed from it: then a snapshot of it lies between two readings. */
static bool clock_is_tsc(void)
{
#ifdef CONFIG_X86_TSC
	struct system_time_snapshot snapshot;
	u64 before, after, guest;

	before = rdtsc_ordered();
	ktime_get_snapshot(&snapshot);
	after = rdtsc_ordered();
	guest = guest_clock_at(before);
	return (before <= snapshot.cycles && snapshot.cycles <= after) ||
	       (guest && guest <= snapshot.cycles && snapshot.cycles <= guest_clock_at(after));
#else
	return false;
#endif
}

static int read_parameters(struct memory_options *options)
{
	*options = (struct memory_options){ .buffer_bytes = buffer,
					    .buffer_max = max(buffer, buffer_max),
					    .packet_bytes = packet,
					    .string_max = string_max,
					    .mode = WIRE_MODE_FLIGHT };
	if (options->buffer_max > BUFFER_MAX || packet < WIRE_PACKET_MIN || packet > WIRE_PACKET_MAX ||
	    string_max < 16 || string_max > STRING_MAX) {
		pr_err("burin: a size is out of range: buffer, buffer_max, packet or string_max\n");
		return -EINVAL;
	}
	if (strcmp(mode, "stream") == 0) {
		options->mode = WIRE_MODE_STREAM;
	} else if (strcmp(mode, "flight") != 0) {
		pr_err("burin: mode=%s: it is flight or stream\n", mode);
		return -EINVAL;
	}
	if (*clock && strcmp(clock, "tsc") != 0 && strcmp(clock, "mono") != 0) {
		pr_err("burin: clock=%s: it is tsc or mono\n", clock);
		return -EINVAL;
	}
	options->clock = strcmp(clock, "mono") != 0 && (*clock || clock_is_tsc()) ? WIRE_CLOCK_TSC
										  : WIRE_CLOCK_MONOTONIC;
	return 0;
}

/* The globs of `enable` are rules for all events, which register later. "sched:*" also means "kernel.sched:*". */
static int read_globs(void)
{
	const struct session_rule on = { .state = WIRE_ON, .level = WIRE_LEVEL_MAX, .where = "" };
	char *rules = burin_session.shared->rules, *copy = kstrdup(enable, GFP_KERNEL), *rest = copy, *glob;
	char whole[WIRE_NAME_MAX + 1];
	bool fits = true;

	if (!copy)
		return -ENOMEM;
	while (fits && (glob = strsep(&rest, ",")) != NULL) {
		if (*glob)
			fits = rules_add(rules, glob, &on);
		if (fits && strchr(glob, ':') && strncmp(glob, "kernel.", 7) != 0 &&
		    snprintf(whole, sizeof(whole), "kernel.%s", glob) < sizeof(whole))
			fits = rules_add(rules, whole, &on);
	}
	kfree(copy);
	if (!fits)
		pr_err("burin: the globs of enable= are too long\n");
	return fits ? 0 : -E2BIG;
}

/* Once the module is loaded, a CPU comes online also if there is no memory for its rings: its records are counted as lost. */
static int add_rings(unsigned int cpu)
{
	const int error = memory_ring_add(cpu);

	if (error != -ENOMEM || !hotplug)
		return error;
	pr_warn("burin: no memory for the rings of CPU %u: its records are lost\n", cpu);
	return 0;
}

/* Rings have memory before the first event is on. */
static int begin_parts(void)
{
	int error = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "burin:memory", add_rings, NULL);

	if (error < 0)
		return error;
	hotplug = error;
	error = events_begin(texts);
	if (error)
		goto no_events;
	error = device_begin();
	if (!error) {
		debugfs_begin();
		return 0;
	}
	events_end();
no_events:
	cpuhp_remove_state_nocalls(hotplug);
	return error;
}

static int __init burin_init(void)
{
	struct memory_options options;
	int error = security_locked_down(LOCKDOWN_TRACEFS);

	if (error) {
		pr_err("burin: the kernel is locked down (confidentiality), which forbids tracing it\n");
		return error;
	}
	error = read_parameters(&options);
	if (error)
		return error;
	error = memory_make(&options);
	if (error)
		return error;
	record_begin();
	burin_string_max = string_max;
	error = read_globs();
	if (!error)
		error = begin_parts();
	if (error)
		memory_free();
	else
		pr_info("burin: %u CPUs, %llu KiB each, clock %s\n", num_online_cpus(),
			(u64)(u32)burin_session.rings[0].control->size *
					burin_session.geometry.packet_bytes >>
				10,
			options.clock == WIRE_CLOCK_TSC ? "tsc" : "mono");
	return error;
}

static void __exit burin_exit(void)
{
	device_end();
	debugfs_end();
	events_end();
	record_end();
	cpuhp_remove_state_nocalls(hotplug);
	memory_free();
}

module_init(burin_init);
module_exit(burin_exit);
MODULE_DESCRIPTION("Burin: tracepoints and events of the kernel");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Measures the cost of a tracepoint of a module. `echo NAME > /sys/module/burin_loop/parameters/measure`, then `cat` prints the ticks of the
 * TSC that one turn of a loop takes, the median over blocks. NAME: empty, a loop whose body has no tracepoint; burin; event, the
 * kernel's own tracer. In a machine that counts instructions ticks are instructions.
 *
 * `insmod burin_loop.ko probes=1` attaches functions that do nothing to the kernel's tracepoints of system calls and switches: what the
 * kernel itself takes for them, whoever records.
 */
#include <linux/module.h>
#include <linux/sort.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>

#include <burin/kernel.h>

#define CREATE_TRACE_POINTS
#include "loop_event.h"

enum {
	WARM = 1000,
	TURNS = 200, /* of a block: short enough that the timer interrupts few blocks */
	BLOCKS = 201
};

static u64 blocks[BLOCKS];

/* The bodies are inlined, so that a tracepoint that is off can be seen to add nothing but its NOP. The compiler must not drop the
 * counter from the loop without one. */
#define TURNS_OF(body)                                     \
	do {                                               \
		for (unsigned int n = 0; n < TURNS; n++) { \
			__asm__ volatile("" : "+r"(n));    \
			body;                              \
		}                                          \
	} while (0)

static noinline void turns_empty(void)
{
	TURNS_OF();
}

static noinline void turns_burin(void)
{
	TURNS_OF(BURIN_TRACE("bench.two", "n=%u twice=%u", n, 2 * n));
}

static noinline void turns_event(void)
{
	TURNS_OF(trace_burin_loop_two(n, 2 * n));
}

static const struct loop {
	const char *name;
	void (*turns)(void);
} loops[] = { { "empty", turns_empty }, { "burin", turns_burin }, { "event", turns_event } };

static int compare(const void *a, const void *b)
{
	const u64 left = *(const u64 *)a, right = *(const u64 *)b;

	return (left > right) - (left < right);
}

static void measure(void (*turns)(void))
{
	for (int n = 0; n < WARM; n += TURNS)
		turns();
	for (int block = 0; block < BLOCKS; block++) {
		const u64 begin = rdtsc_ordered();

		turns();
		blocks[block] = rdtsc_ordered() - begin;
	}
	sort(blocks, BLOCKS, sizeof(blocks[0]), compare, NULL);
}

static int measure_set(const char *value, const struct kernel_param *parameter)
{
	for (unsigned int n = 0; n < ARRAY_SIZE(loops); n++)
		if (sysfs_streq(value, loops[n].name)) {
			measure(loops[n].turns);
			return 0;
		}
	return -EINVAL;
}

static int measure_get(char *out, const struct kernel_param *parameter)
{
	const u64 hundredths = blocks[BLOCKS / 2] * 100 / TURNS;

	return scnprintf(out, PAGE_SIZE, "turn_ticks %llu.%02llu\n", hundredths / 100, hundredths % 100);
}

static const struct kernel_param_ops measure_operations = { .set = measure_set, .get = measure_get };
module_param_cb(measure, &measure_operations, NULL, 0600);
MODULE_PARM_DESC(measure, "write empty, burin or event; read: ticks of a turn");

/* ---- the floor of each tracer */

static void on_enter(void *data, struct pt_regs *regs, long number)
{
}

static void on_leave(void *data, struct pt_regs *regs, long result)
{
}

static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int state)
{
}

static struct probe {
	const char *name;
	void *function;
	struct tracepoint *point;
} probes[] = { { .name = "sys_enter", .function = on_enter },
	       { .name = "sys_exit", .function = on_leave },
	       { .name = "sched_switch", .function = on_switch } };

static bool with_probes;
module_param_named(probes, with_probes, bool, 0400);
MODULE_PARM_DESC(probes, "attach empty functions to the kernel's tracepoints");

static void find(struct tracepoint *point, void *data)
{
	for (unsigned int n = 0; n < ARRAY_SIZE(probes); n++)
		if (strcmp(point->name, probes[n].name) == 0)
			probes[n].point = point;
}

static void detach(unsigned int count)
{
	for (unsigned int n = 0; n < count; n++)
		tracepoint_probe_unregister(probes[n].point, probes[n].function, NULL);
	tracepoint_synchronize_unregister();
}

static int attach(void)
{
	for_each_kernel_tracepoint(find, NULL);
	for (unsigned int n = 0; n < ARRAY_SIZE(probes); n++)
		if (!probes[n].point ||
		    tracepoint_probe_register(probes[n].point, probes[n].function, NULL)) {
			detach(n);
			return -ENOENT;
		}
	return 0;
}

static int __init loop_init(void)
{
	check_trace_callback_type_sys_enter(on_enter);
	check_trace_callback_type_sys_exit(on_leave);
	check_trace_callback_type_sched_switch(on_switch);
	return with_probes ? attach() : 0;
}

static void __exit loop_exit(void)
{
	if (with_probes)
		detach(ARRAY_SIZE(probes));
}

module_init(loop_init);
module_exit(loop_exit);
MODULE_DESCRIPTION("The cost of tracepoints");
MODULE_LICENSE("Dual MIT/GPL");

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Tracepoints in NMIs. `echo N > /sys/module/burin_nmi/parameters/fire`, on CPU 1, reaches nmi.task N times; `echo N > .../send`, on
 * another CPU, sends N NMIs to CPU 1, each of which reaches nmi.hit; `hits` is how many there were.
 *
 * `echo EVENT > .../count` gives an event a function, which this module does not remove when it is unloaded; `counted` is how often it was called.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/nmi.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include <burin/kernel.h>

enum {
	TARGET = 1, /* CPU */
	COUNT_MAX = 10000000,
	APART_US = 50
};

static unsigned int hits, awaited;
module_param(hits, uint, 0444);
MODULE_PARM_DESC(hits, "NMIs so far");

static int on_nmi(unsigned int kind, struct pt_regs *regs)
{
	if (smp_processor_id() != TARGET || READ_ONCE(awaited) == hits)
		return NMI_DONE;
	BURIN_TRACE("nmi.hit", "n=%u text=%s", hits, "in an NMI");
	WRITE_ONCE(hits, hits + 1);
	return NMI_HANDLED;
}

static int count_of(const char *value, unsigned int *count)
{
	int error = kstrtouint(value, 0, count);

	return error ? error : *count > COUNT_MAX ? -ERANGE : 0;
}

static int fire(const char *value, const struct kernel_param *parameter)
{
	unsigned int count;
	int error = count_of(value, &count);

	for (unsigned int n = 0; !error && n < count; n++)
		BURIN_TRACE("nmi.task", "n=%u twice=%u", n, 2 * n);
	return error;
}

static int send(const char *value, const struct kernel_param *parameter)
{
	unsigned int count;
	int error = count_of(value, &count);

	for (unsigned int n = 0; !error && n < count; n++) {
		WRITE_ONCE(awaited, awaited + 1);
		apic->send_IPI(TARGET, NMI_VECTOR);
		/* One at a time: the processor keeps only one more. */
		for (int tries = 0; READ_ONCE(hits) != awaited; tries++) {
			if (tries == 1000000)
				return -ETIMEDOUT;
			cpu_relax();
		}
		udelay(APART_US);
	}
	return error;
}

static atomic_t counted = ATOMIC_INIT(0);

static void add_one(const struct burin_site *site, const void *payload, size_t size, void *data)
{
	atomic_inc(data);
}

static int count(const char *value, const struct kernel_param *parameter)
{
	char name[128];

	strscpy(name, value, sizeof(name));
	return burin_probe_set(strim(name), add_one, &counted);
}

static const struct kernel_param_ops count_operations = { .set = count };
module_param_cb(count, &count_operations, NULL, 0200);
MODULE_PARM_DESC(count, "write an event's name: count it, until this module is unloaded");
module_param_named(counted, counted.counter, int, 0444);
MODULE_PARM_DESC(counted, "how often such an event was reached");

static const struct kernel_param_ops fire_operations = { .set = fire };
module_param_cb(fire, &fire_operations, NULL, 0200);
MODULE_PARM_DESC(fire, "write N: reach nmi.task N times");
static const struct kernel_param_ops send_operations = { .set = send };
module_param_cb(send, &send_operations, NULL, 0200);
MODULE_PARM_DESC(send, "write N: send N NMIs to CPU 1");

static int __init nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, on_nmi, 0, "burin_nmi");
}

static void __exit nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "burin_nmi");
}

module_init(nmi_init);
module_exit(nmi_exit);
MODULE_DESCRIPTION("Tracepoints in NMIs");
MODULE_LICENSE("Dual MIT/GPL");

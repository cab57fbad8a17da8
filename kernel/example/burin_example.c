// SPDX-License-Identifier: GPL-2.0-only
/*
 * An example of a module with tracepoints. Each write to /sys/module/burin_example/parameters/fire reaches all of them as
 * often as the number says.
 */
#include <linux/module.h>

#include <burin/kernel.h>

enum {
	COUNT_MAX = 100000000,
};

BURIN_ENUM(states, { "idle", 0 }, { "busy", 1 }, { "failed", -5 });

static const int sizes[] = { 1, 2, 3 };
static const unsigned char bytes[] = { 0xde, 0xad, 0xbe, 0xef };
static char text[300] = "a text";
module_param_string(text, text, sizeof(text), 0644);
MODULE_PARM_DESC(text, "the text that example.text records");

/* One of each kind of argument that the kernel has. */
static noinline void fire_types(unsigned int n)
{
	BURIN_TRACE("example.integers", "b=%d i8=%hhd i16=%hd i32=%d i64=%lld", n % 2 == 0, (signed char)-n,
		    (short)-n, -(int)n, -(long long)n);
	BURIN_TRACE("example.unsigned", "u8=%hhu u16=%hu u32=%u u64=%llu char=%c", (unsigned char)n,
		    (unsigned short)n, n, (unsigned long long)n << 32, (char)('a' + n % 26));
	BURIN_TRACE("example.pointer", "at=%p", (void *)sizes);
	BURIN_TRACE("example.bytes", "mac=%p", BURIN_BYTES(bytes, sizeof(bytes)));
	BURIN_TRACE("example.array", "sizes=%d", BURIN_ARRAY(sizes, ARRAY_SIZE(sizes)));
	BURIN_TRACE("example.length", "part=%.*s", 3, text);
	BURIN_TRACE("example.enum", "state=%d{states} next=%d{states}", n == 2 ? -5 : (int)n, n + 1);
}

static noinline void fire_texts(unsigned int n)
{
	BURIN_TRACE("example.text", "n=%u text=%s", n, text);
	BURIN_TRACE("example.null", "none=%s", (const char *)NULL);
}

static noinline void fire_spans(unsigned int n)
{
	BURIN_SCOPE("example.scope", "n=%u", n);

	BURIN_BEGIN("example.span", "n=%u", n);
	BURIN_COUNTER("example.counter", n);
	BURIN_TRACE_LEVEL(5, "example.detail", "n=%u", n);
	BURIN_END("example.span");
	BURIN_SPAN_BEGIN(n, "example.request", "twice=%u", 2 * n);
	BURIN_SPAN128_END(-1, n, "example.trace");
}

/* The one whose cost is measured. */
static noinline void fire_one(unsigned int n)
{
	BURIN_TRACE("example.two", "n=%u twice=%u", n, 2 * n);
}

static int fire(const char *value, const struct kernel_param *parameter)
{
	unsigned int count;
	int error = kstrtouint(value, 0, &count);

	if (error)
		return error;
	if (count > COUNT_MAX)
		return -ERANGE;
	for (unsigned int n = 0; n < count; n++) {
		fire_types(n);
		fire_texts(n);
		fire_spans(n);
		fire_one(n);
	}
	return 0;
}

static const struct kernel_param_ops fire_operations = { .set = fire };
module_param_cb(fire, &fire_operations, NULL, 0200);
MODULE_PARM_DESC(fire, "write N: reach each tracepoint N times");

/* Instructions of one tracepoint: where the counter of time counts them (QEMU's -icount), the ticks of many, divided. */
static unsigned int cost_on;

static int cost(const char *value, const struct kernel_param *parameter)
{
	unsigned int count;
	u64 begin, end;
	int error = kstrtouint(value, 0, &count);

	if (error)
		return error;
	if (!count || count > COUNT_MAX)
		return -ERANGE;
	begin = get_cycles();
	for (unsigned int n = 0; n < count; n++)
		fire_one(n);
	end = get_cycles();
	cost_on = (unsigned int)div_u64((end - begin) * 100, count);
	return 0;
}

static int cost_get(char *out, const struct kernel_param *parameter)
{
	return scnprintf(out, PAGE_SIZE, "%u.%02u\n", cost_on / 100, cost_on % 100);
}

static const struct kernel_param_ops cost_operations = { .set = cost, .get = cost_get };
module_param_cb(cost, &cost_operations, NULL, 0600);
MODULE_PARM_DESC(cost, "write N: measure N times example.two; read: ticks of one");

/* A function for an event, which counts how often it is reached, whether the event is on or off. */
static char counted[128];
static atomic64_t reached;

static void count(const struct burin_site *site, const void *payload, size_t size, void *data)
{
	atomic64_inc(data);
}

static int count_set(const char *value, const struct kernel_param *parameter)
{
	int error;

	if (*counted)
		burin_probe_set(counted, NULL, NULL);
	strscpy(counted, value, sizeof(counted));
	strim(counted);
	atomic64_set(&reached, 0);
	error = *counted ? burin_probe_set(counted, count, &reached) : 0;
	if (error)
		*counted = 0;
	return error;
}

static int count_get(char *out, const struct kernel_param *parameter)
{
	return scnprintf(out, PAGE_SIZE, "%s %lld\n", counted, atomic64_read(&reached));
}

static const struct kernel_param_ops count_operations = { .set = count_set, .get = count_get };
module_param_cb(count, &count_operations, NULL, 0600);
MODULE_PARM_DESC(
	count,
	"write an event's name: count it; empty: no more; read: the name and how often it was reached");

static int __init example_init(void)
{
	BURIN_TRACE("example.init", "pid=%d", current->pid);
	return 0;
}

static void __exit example_exit(void)
{
	BURIN_TRACE("example.exit");
	if (*counted)
		burin_probe_set(counted, NULL, NULL);
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of tracepoints with Burin");
MODULE_LICENSE("GPL");

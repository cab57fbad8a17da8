/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a sample to (task, stack); each sample is attributed or lost by one cause. */
#include "fixture.h"

static enum wire_sample attribute_one(struct fixture *fixture, uint16_t misc, uint64_t ip, uint32_t tid,
				      const uint64_t *chain, uint64_t count, struct attributed *out)
{
	struct synthetic bytes;
	struct record record;

	synthetic_sample(&bytes, misc, ip, 1, tid, 100, chain, count);
	record = synthetic_parsed(&bytes);
	assert_int_equal(record.kind, RECORD_SAMPLE);
	return attribute(&fixture->attribution, &record, out);
}

static void begin(struct fixture *fixture)
{
	struct synthetic bytes;

	synthetic_name(&bytes, 1, 1, 1, 1, "one");
	fixture_take(fixture, &bytes);
	synthetic_map(&bytes, 1, 2, 0x1000, 0x1000, 0x5000, 11, "/a");
	fixture_take(fixture, &bytes);
}

static const struct stacks_node *node(const struct fixture *fixture, uint32_t number)
{
	assert_in_range(number, 1, fixture->stacks.count);
	return &fixture->stacks.nodes[number - 1];
}

static void chains(void **state)
{
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x1100, 0x1200, 0x1300 };
	static const uint64_t other[] = { PERF_CONTEXT_USER, 0x1150, 0x1200, 0x1300 };
	struct fixture *fixture = *state;
	struct attributed one, two;
	const struct stacks_node *frame;

	begin(fixture);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 4, &one),
			 WIRE_SAMPLE_KEPT);
	assert_false(one.kernel);
	frame = node(fixture, one.stack);
	assert_int_equal(frame->offset, 0x5100); /* the address itself */
	frame = node(fixture, frame->caller);
	assert_int_equal(frame->offset, 0x51ff); /* the return address less one */
	frame = node(fixture, frame->caller);
	assert_int_equal(frame->offset, 0x52ff);
	assert_int_equal(frame->caller, 0);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 4, &two),
			 WIRE_SAMPLE_KEPT);
	assert_int_equal(one.stack, two.stack);
	assert_int_equal(one.task, two.task);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1150, 1, other, 4, &two),
			 WIRE_SAMPLE_KEPT);
	assert_int_equal(node(fixture, one.stack)->caller,
			 node(fixture, two.stack)->caller); /* callers are shared */
	assert_int_equal(fixture->stacks.count, 4);
	assert_int_equal(one.ends, WIRE_TRUNCATION_NONE);
}

static void cuts(void **state)
{
	static const uint64_t wild[] = { PERF_CONTEXT_USER, 0x1100, 0xdead0000, 0x1300 };
	static uint64_t deep[140] = { PERF_CONTEXT_USER };
	struct fixture *fixture = *state;
	struct attributed out;
	const struct stacks_node *frame;
	unsigned depth = 0;

	begin(fixture);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 1, wild, 4, &out),
			 WIRE_SAMPLE_KEPT);
	frame = node(fixture, node(fixture, out.stack)->caller);
	assert_int_equal(frame->image, 0);
	assert_int_equal(frame->offset, WIRE_TRUNCATION_MEMORY);
	assert_int_equal(out.ends, WIRE_TRUNCATION_MEMORY);
	assert_int_equal(frame->caller, 0);
	for (unsigned n = 1; n < 128; n++)
		deep[n] = 0x1100 + n;
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1101, 1, deep, 128, &out),
			 WIRE_SAMPLE_KEPT);
	for (uint32_t n = out.stack; n; n = frame->caller, depth++)
		frame = node(fixture, n);
	assert_int_equal(frame->offset, WIRE_TRUNCATION_DEPTH);
	assert_int_equal(depth, 128);
	assert_int_equal(out.ends, WIRE_TRUNCATION_DEPTH);
}

static void losses(void **state)
{
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x9000 };
	struct fixture *fixture = *state;
	struct attributed out;

	begin(fixture);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 55, chain, 0, &out),
			 WIRE_SAMPLE_TASK);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x9000, 1, chain, 2, &out),
			 WIRE_SAMPLE_MAPPING);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_HYPERVISOR, 0x1100, 1, chain, 0, &out),
			 WIRE_SAMPLE_CONTEXT);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 0, &out),
			 WIRE_SAMPLE_KEPT);
	assert_int_equal(out.ends, WIRE_TRUNCATIONS); /* only the innermost frame */
	fixture->stacks_table.error = -5;
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1108, 1, chain, 0, &out),
			 WIRE_SAMPLE_WRITE);
	fixture->stacks_table.error = 0;
}

/* A stack has the kernel's frames first, then the user's. */
static void kernel(void **state)
{
	const uint64_t chain[] = {
		PERF_CONTEXT_KERNEL, 0xffffffff81001000, 0xffffffff81002000, PERF_CONTEXT_USER, 0x1100, 0x1200
	};
	struct fixture *fixture = *state;
	struct attributed out;
	const struct stacks_node *frame;

	begin(fixture);
	fixture->kernel.image = images_named(&fixture->images, WIRE_IMAGE_KERNEL, "[kernel]", 0, NULL, 0);
	fixture->kernel.text = 0xffffffff81000000;
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_KERNEL, chain[1], 1, chain, 6, &out),
			 WIRE_SAMPLE_KEPT);
	assert_true(out.kernel);
	frame = node(fixture, out.stack);
	assert_int_equal(frame->offset, 0x1000);
	frame = node(fixture, frame->caller);
	assert_int_equal(frame->offset, 0x1fff);
	frame = node(fixture, frame->caller);
	assert_int_equal(frame->offset, 0x5100); /* where it was interrupted */
	frame = node(fixture, frame->caller);
	assert_int_equal(frame->offset, 0x51ff);
}

/* A sample in the kernel, of code at `ip`. @call: in a system call; otherwise after a fault */
static void attribute_kernel(struct fixture *fixture, uint64_t ip, bool call, const void *stack, size_t bytes,
			     struct attributed *out)
{
	const uint64_t chain[] = { PERF_CONTEXT_KERNEL, 0xffffffff81001000, PERF_CONTEXT_USER, ip };
	const uint64_t registers[] = { 1, 2, call ? ip : 3, 4, 5, 6, 7, 0x7000, ip }; /* ax to ip */
	struct record record;
	struct synthetic sample;

	fixture->attribution.registers = 0x1ff;
	synthetic_sample(&sample, PERF_RECORD_MISC_KERNEL, chain[1], 1, 1, 100, chain, 4);
	record = synthetic_parsed(&sample);
	record.sample.user = (struct record_user){ .abi = PERF_SAMPLE_REGS_ABI_64,
						   .registers = registers,
						   .register_count = 9,
						   .stack = stack,
						   .stack_bytes = bytes };
	assert_int_equal(attribute(&fixture->attribution, &record, out), WIRE_SAMPLE_KEPT);
	assert_true(out->kernel);
}

static bool has_caller(const struct fixture *fixture, const struct attributed *out)
{
	return node(fixture, out->stack)->caller != 0;
}

/* In execve(), the registers are of a program whose stack is gone. */
static void between_programs(void **state)
{
	static const uint64_t stack[64];
	struct fixture *fixture = *state;
	struct synthetic bytes;
	struct attributed out;

	begin(fixture);
	fixture->kernel.image = images_named(&fixture->images, WIRE_IMAGE_KERNEL, "[kernel]", 0, NULL, 0);
	fixture->kernel.text = 0xffffffff81000000;
	attribute_kernel(fixture, 0x1100, true, stack, sizeof(stack), &out);
	assert_true(has_caller(fixture, &out)); /* any other system call */
	assert_int_not_equal(out.ends, WIRE_TRUNCATIONS);
	attribute_kernel(fixture, 0x1100, false, stack, 0, &out);
	assert_true(has_caller(fixture, &out)); /* a fault of the stack itself: it is there */
	assert_int_not_equal(out.ends, WIRE_TRUNCATIONS);
#if defined(__x86_64__)
	attribute_kernel(fixture, 0x1100, true, stack, 0, &out);
	assert_false(has_caller(fixture, &out));
	assert_int_equal(out.ends, WIRE_TRUNCATIONS);
#endif
	synthetic_name(&bytes, 1, 1, 3, 1, "two");
	fixture_take(fixture, &bytes);
	attribute_kernel(fixture, 0x1100, true, stack, sizeof(stack), &out);
	assert_false(has_caller(fixture, &out));
	assert_int_equal(out.ends, WIRE_TRUNCATIONS);
	synthetic_map(&bytes, 1, 4, 0x1000, 0x1000, 0x5000, 11, "/b");
	fixture_take(fixture, &bytes);
	attribute_kernel(fixture, 0x9100, true, stack, 0, &out);
	assert_int_equal(out.ends, WIRE_TRUNCATIONS); /* the program is mapped, but has not begun */
	attribute_kernel(fixture, 0x1100, false, stack, sizeof(stack), &out);
	assert_true(has_caller(fixture, &out));
	attribute_kernel(fixture, 0x9100, false, stack, sizeof(stack), &out);
	assert_int_equal(out.ends, WIRE_TRUNCATION_MEMORY); /* it has begun: an unknown address is one */
}

/* A thread whose id the kernel has released is counted to its process; without one, the sample is lost. */
static void released_ids(void **state)
{
	struct fixture *fixture = *state;
	struct attributed out;

	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_KERNEL, 0x1100, UINT32_MAX, NULL, 0, &out),
			 WIRE_SAMPLE_TASK);
	begin(fixture);
	assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_KERNEL, 0x1100, UINT32_MAX, NULL, 0, &out),
			 WIRE_SAMPLE_KEPT);
	assert_int_equal(out.tid, 1);
}

static uid_t user_of(uint32_t pid, struct foreign_user *own)
{
	*own = (struct foreign_user){ pid, pid };
	return pid;
}

/* A process with ever new stacks cannot use up the memory: each gets one frame. Known ones stay, and so do those of others. */
static void memory(void **state)
{
	struct fixture *fixture = *state;
	struct budget *budget = &fixture->images.budget;
	uint64_t chain[] = { PERF_CONTEXT_USER, 0x1100, 0x1200, 0x1300 };
	struct attributed first, out;
	struct synthetic bytes;
	struct record record;

	budget->user_of = user_of;
	budget->stacks_max = 400;
	begin(fixture);
	attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 4, &first);
	for (chain[3] = 0x1301; chain[3] < 0x1900; chain[3]++)
		assert_int_equal(attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 4, &out),
				 WIRE_SAMPLE_KEPT);
	assert_in_range(fixture->stacks.count, 100, 110); /* a quarter, and a last stack */
	assert_int_equal(out.ends, WIRE_TRUNCATION_DEPTH);
	assert_int_equal(node(fixture, out.stack)->offset, 0x5100);
	assert_int_equal(node(fixture, node(fixture, out.stack)->caller)->offset, WIRE_TRUNCATION_DEPTH);
	assert_true(budget->over[BUDGET_STACKS] > 1000);
	assert_int_equal(budget->named_count, 1);
	assert_int_equal(budget->named[0]->id, 1);

	chain[3] = 0x1300;
	attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 4, &out);
	assert_int_equal(out.stack, first.stack);

	synthetic_name(&bytes, 2, 2, 1, 1, "two");
	fixture_take(fixture, &bytes);
	synthetic_map(&bytes, 2, 2, 0x1000, 0x1000, 0x5000, 11, "/a");
	fixture_take(fixture, &bytes);
	synthetic_sample(&bytes, PERF_RECORD_MISC_USER, 0x1100, 2, 2, 100, chain, 3);
	record = synthetic_parsed(&bytes);
	assert_int_equal(attribute(&fixture->attribution, &record, &out), WIRE_SAMPLE_KEPT);
	assert_int_equal(out.ends, WIRE_TRUNCATION_NONE);
	assert_int_equal(node(fixture, node(fixture, out.stack)->caller)->offset, 0x51ff);

	budget_again(budget, BUDGET_STACKS);
	chain[3] = 0x1910;
	attribute_one(fixture, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 4, &out);
	assert_int_equal(out.ends, WIRE_TRUNCATION_NONE);
}

static enum wire_sample attribute_released(struct fixture *fixture, uint32_t pid, struct attributed *out)
{
	struct synthetic bytes;
	struct record record;

	synthetic_sample(&bytes, PERF_RECORD_MISC_KERNEL, 0x1100, pid, UINT32_MAX, 100, NULL, 0);
	record = synthetic_parsed(&bytes);
	return attribute(&fixture->attribution, &record, out);
}

/* A process' first thread has no id left at all: the thread that ended last on this CPU has the sample, if it has ended. */
static void released_pids(void **state)
{
	struct fixture *fixture = *state;
	struct synthetic bytes;
	struct attributed out;

	begin(fixture);
	synthetic_task(&bytes, PERF_RECORD_FORK, 2, 2, 1, 1, 2);
	fixture_take(fixture, &bytes);
	fixture->attribution.last_ended = 2;
	assert_int_equal(attribute_released(fixture, UINT32_MAX, &out), WIRE_SAMPLE_TASK); /* it runs */
	synthetic_task(&bytes, PERF_RECORD_EXIT, 2, 2, 1, 1, 3);
	fixture_take(fixture, &bytes);
	assert_int_equal(attribute_released(fixture, UINT32_MAX, &out), WIRE_SAMPLE_KEPT);
	assert_int_equal(out.tid, 2);
	assert_int_equal(attribute_released(fixture, 2, &out), WIRE_SAMPLE_KEPT);
	assert_int_equal(out.tid, 2);
	assert_int_equal(attribute_released(fixture, 1, &out),
			 WIRE_SAMPLE_KEPT); /* another process: its first thread */
	assert_int_equal(out.tid, 1);
	fixture->attribution.last_ended = 0;
	assert_int_equal(attribute_released(fixture, UINT32_MAX, &out), WIRE_SAMPLE_TASK);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
	const struct CMUnitTest tests[] = { CASE(chains),	    CASE(cuts),
					    CASE(losses),	    CASE(kernel),
					    CASE(between_programs), CASE(released_ids),
					    CASE(released_pids),    CASE(memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

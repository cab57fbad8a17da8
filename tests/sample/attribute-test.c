/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a sample to (task, stack); each sample is attributed or lost by one cause. */
#include "place.h"

static enum sample_loss attribute_one(struct place *place, uint16_t misc, uint64_t ip, uint32_t tid,
				      const uint64_t *chain, uint64_t count, struct attributed *out)
{
	struct synthetic bytes;
	struct record record;

	synthetic_sample(&bytes, misc, ip, 1, tid, 100, chain, count);
	record = synthetic_parsed(&bytes);
	assert_int_equal(record.kind, RECORD_SAMPLE);
	return attribute(&place->attribution, &record, out);
}

static void begin(struct place *place)
{
	struct synthetic bytes;

	synthetic_name(&bytes, 1, 1, 1, 1, "one");
	place_tell(place, &bytes);
	synthetic_map(&bytes, 1, 2, 0x1000, 0x1000, 0x5000, 11, "/a");
	place_tell(place, &bytes);
}

static const struct stacks_node *node(const struct place *place, uint32_t number)
{
	assert_in_range(number, 1, place->stacks.count);
	return &place->stacks.nodes[number - 1];
}

static void chains(void **state)
{
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x1100, 0x1200, 0x1300 };
	static const uint64_t other[] = { PERF_CONTEXT_USER, 0x1150, 0x1200, 0x1300 };
	struct place *place = *state;
	struct attributed one, two;
	const struct stacks_node *frame;

	begin(place);
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 4, &one), SAMPLE_KEPT);
	assert_false(one.kernel);
	frame = node(place, one.stack);
	assert_int_equal(frame->offset, 0x5100); /* the place itself */
	frame = node(place, frame->caller);
	assert_int_equal(frame->offset, 0x51ff); /* to return to, less one */
	frame = node(place, frame->caller);
	assert_int_equal(frame->offset, 0x52ff);
	assert_int_equal(frame->caller, 0);
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 4, &two), SAMPLE_KEPT);
	assert_int_equal(one.stack, two.stack);
	assert_int_equal(one.task, two.task);
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x1150, 1, other, 4, &two), SAMPLE_KEPT);
	assert_int_equal(node(place, one.stack)->caller,
			 node(place, two.stack)->caller); /* callers are shared */
	assert_int_equal(place->stacks.count, 4);
	assert_int_equal(one.ends, WIRE_CUT_NONE);
}

static void cuts(void **state)
{
	static const uint64_t wild[] = { PERF_CONTEXT_USER, 0x1100, 0xdead0000, 0x1300 };
	static uint64_t deep[140] = { PERF_CONTEXT_USER };
	struct place *place = *state;
	struct attributed out;
	const struct stacks_node *frame;
	unsigned depth = 0;

	begin(place);
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x1100, 1, wild, 4, &out), SAMPLE_KEPT);
	frame = node(place, node(place, out.stack)->caller);
	assert_int_equal(frame->image, 0);
	assert_int_equal(frame->offset, WIRE_CUT_MEMORY);
	assert_int_equal(out.ends, WIRE_CUT_MEMORY);
	assert_int_equal(frame->caller, 0);
	for (unsigned n = 1; n < 128; n++)
		deep[n] = 0x1100 + n;
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x1101, 1, deep, 128, &out),
			 SAMPLE_KEPT);
	for (uint32_t n = out.stack; n; n = frame->caller, depth++)
		frame = node(place, n);
	assert_int_equal(frame->offset, WIRE_CUT_DEPTH);
	assert_int_equal(depth, 128);
	assert_int_equal(out.ends, WIRE_CUT_DEPTH);
}

static void losses(void **state)
{
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x9000 };
	struct place *place = *state;
	struct attributed out;

	begin(place);
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x1100, 55, chain, 0, &out),
			 SAMPLE_LOST_TASK);
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x9000, 1, chain, 2, &out),
			 SAMPLE_LOST_MAPPING);
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_HYPERVISOR, 0x1100, 1, chain, 0, &out),
			 SAMPLE_LOST_CONTEXT);
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x1100, 1, chain, 0, &out), SAMPLE_KEPT);
	assert_int_equal(out.ends, WIRE_CUTS); /* the innermost frame alone */
	place->stacks_table.error = -5;
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_USER, 0x1108, 1, chain, 0, &out),
			 SAMPLE_LOST_WRITE);
	place->stacks_table.error = 0;
}

/* The kernel's part lies over the user's; a chain that does not begin where the sample does is not believed. */
static void kernel(void **state)
{
	const uint64_t chain[] = {
		PERF_CONTEXT_KERNEL, 0xffffffff81001000, 0xffffffff81002000, PERF_CONTEXT_USER, 0x1100, 0x1200
	};
	struct place *place = *state;
	struct attributed out;
	const struct stacks_node *frame;

	begin(place);
	place->kernel.image = images_named(&place->images, WIRE_IMAGE_KERNEL, "[kernel]", 0, NULL, 0);
	place->kernel.text = 0xffffffff81000000;
	assert_int_equal(attribute_one(place, PERF_RECORD_MISC_KERNEL, chain[1], 1, chain, 6, &out),
			 SAMPLE_KEPT);
	assert_true(out.kernel);
	frame = node(place, out.stack);
	assert_int_equal(frame->offset, 0x1000);
	frame = node(place, frame->caller);
	assert_int_equal(frame->offset, 0x1fff);
	frame = node(place, frame->caller);
	assert_int_equal(frame->offset, 0x5100); /* where it was interrupted */
	frame = node(place, frame->caller);
	assert_int_equal(frame->offset, 0x51ff);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, place_set_up, place_tear_down)
	const struct CMUnitTest tests[] = { CASE(chains), CASE(cuts), CASE(losses), CASE(kernel) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

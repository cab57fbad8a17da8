/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The traces of samples that tests use; see profile_sample.h. */
#include "profile_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"
#include "tables.h"
#include "wire/wire_event.h"
#include "wire/wire_profile.h"

enum {
	SERVER = 1,
	LIBC,
	KERNEL,
	CLIENT,
	EVENT_TYPES = WIRE_U32,
	WAIT_TYPES = EVENT_TYPES | WIRE_U64 << 4,
	WAITS = 15,
	MS = 1000000,
};

static void write_symbols(struct tables *tables)
{
	uint32_t server = tables_text(tables, "src/server.c"), client = tables_text(tables, "src/client.c");
	uint32_t parse = tables_text(tables, "parse"), wrong;

	tables_place(tables, SERVER, 0x110, 0x100, 0x80, 0, 0, tables_text(tables, "main"), server, 11);
	tables_place(tables, SERVER, 0x210, 0x200, 0x80, 0, 0, tables_text(tables, "handle"), server, 21);
	tables_place(tables, SERVER, 0x310, 0x300, 0x80, tables_text(tables, "next_token"), 35, parse, server,
		     31);
	tables_place(tables, SERVER, 0x410, 0x400, 0x80, 0, 0, tables_text(tables, "fib"), server, 41);
	tables_place(tables, SERVER, 0x430, 0x400, 0x80, 0, 0, tables_text(tables, "fib"), server, 43);
	/* What has an entry is not named by its function; nor by one that ends before it, or begins before a nearer one. */
	wrong = tables_text(tables, "wrong");
	tables_function(tables, LIBC, 0x2000, 0x80, tables_text(tables, "read"));
	tables_function(tables, LIBC, 0x1000, 0x80, tables_text(tables, "malloc"));
	tables_function(tables, LIBC, 0x800, 0x10000, wrong);
	tables_function(tables, LIBC, 0x4f80, 0x80, wrong);
	tables_function(tables, LIBC, 0x5001, 0x80, wrong);
	tables_function(tables, SERVER, 0x400, 0x80, wrong);
	tables_function(tables, KERNEL, 0x9000, 0x11, tables_text(tables, "sys_read"));
	tables_place(tables, CLIENT, 0x110, 0x100, 0x80, 0, 0, tables_text(tables, "start"), client, 7);
	tables_state(tables, SERVER, WIRE_SYMBOLS_LINES, "");
	tables_state(tables, LIBC, WIRE_SYMBOLS_DYNAMIC, "libc6-dbg");
	tables_state(tables, KERNEL, WIRE_SYMBOLS_TABLE, "");
	tables_state(tables, CLIENT, WIRE_SYMBOLS_LINES, "");
}

/* Ten waits of one stack, five of another that take twice as long. */
static void write_waits(struct synth *synth, uint32_t malloc_, uint32_t sys_read)
{
	struct synth_ring *ring = synth_samples(synth, 2);
	uint32_t event = synth_event(synth, "sample.off-cpu", "context=%u weight=%lu", WAIT_TYPES,
				     WIRE_KIND_EVENT, "", 0);

	for (uint32_t n = 0; n < WAITS; n++)
		synth_recordf(ring, 1000000000 + n * UINT64_C(10) * MS, event, n < 10 ? 101 : 200, "dq",
			      n < 10 ? malloc_ : sys_read, n < 10 ? UINT64_C(50) * MS : UINT64_C(100) * MS);
}

void sample_small(const char *path, unsigned factor, bool waits)
{
	const struct synth_options options = { .offset_ns = 1700000000000000000, .hz = 1000000000 };
	struct synth *synth = synth_new(path, &options);
	struct synth_ring *rings[] = { synth_samples(synth, 0), synth_samples(synth, 1) };
	uint32_t event = synth_event(synth, "sample.cpu", "context=%u", EVENT_TYPES, WIRE_KIND_EVENT, "", 0);
	struct tables *tables = tables_new(path, 3);
	uint32_t main_, handle, fib, cut, start, total = 0;
	struct {
		uint32_t tid, task, count, stack, context, left;
	} kinds[6] = {
		{ .tid = 100, .task = 1, .count = 400 * factor }, { .tid = 100, .task = 1, .count = 200 },
		{ .tid = 101, .task = 2, .count = 100 },	  { .tid = 101, .task = 2, .count = 100 },
		{ .tid = 200, .task = 3, .count = 150 },	  { .tid = 200, .task = 3, .count = 50 }
	};
	char profile[1024];

	tables_image(tables, WIRE_IMAGE_FILE, "\x01\x02\x03", "/usr/bin/server");
	tables_image(tables, WIRE_IMAGE_FILE, "\x04\x05\x06", "/usr/lib/libc.so.6");
	tables_image(tables, WIRE_IMAGE_KERNEL, "\x07", "[kernel.kallsyms]");
	tables_image(tables, WIRE_IMAGE_FILE, "\x0a", "/usr/bin/client");
	tables_task(tables, 100, 100, SERVER, "server", "/usr/bin/server");
	tables_task(tables, 101, 100, SERVER, "worker", "/usr/bin/server");
	tables_task(tables, 200, 200, CLIENT, "client", "/usr/bin/client");
	main_ = tables_stack(tables, 0, SERVER, 0x110);
	handle = tables_stack(tables, main_, SERVER, 0x210);
	kinds[0].stack = tables_stack(tables, handle, SERVER, 0x310);
	fib = tables_stack(tables, tables_stack(tables, main_, SERVER, 0x430), SERVER, 0x430);
	kinds[1].stack = tables_stack(tables, fib, SERVER, 0x410);
	kinds[2].stack = tables_stack(tables, handle, LIBC, 0x1010);
	cut = tables_stack(tables, 0, 0, WIRE_TRUNCATION_TABLES);
	kinds[3].stack = tables_stack(tables, cut, LIBC, 0x5000);
	start = tables_stack(tables, 0, CLIENT, 0x110);
	kinds[4].stack = tables_stack(tables, tables_stack(tables, start, LIBC, 0x2010), KERNEL, 0x9010);
	kinds[5].stack = start;
	write_symbols(tables);
	if (waits)
		write_waits(synth, tables_spot(tables, 2, kinds[2].stack),
			    tables_spot(tables, 3, kinds[4].stack));
	for (unsigned n = 0; n < 6; n++) {
		total += kinds[n].left = kinds[n].count;
		kinds[n].context = tables_spot(tables, kinds[n].task, kinds[n].stack);
	}
	for (uint32_t n = 0, at = 0; n < total; n++, at = (at + 1) % 6) {
		while (!kinds[at].left)
			at = (at + 1) % 6;
		kinds[at].left--;
		synth_recordf(rings[n % 2], 1000000000 + n * UINT64_C(1000000), event, kinds[at].tid, "d",
			      kinds[at].context);
	}
	synth_finish(synth);
	total += waits ? WAITS : 0;
	snprintf(
		profile, sizeof(profile),
		"state=ended\nfrequency=1000\ncall_graph=both\nunit.sample.cpu=ns\nweight.sample.cpu="
		"1000000\nunit.sample.off-cpu=ns\n"
		"received=%u\nattributed=%u\nlost.ring=10\nlost.task=5\nkernel=150\nuser=%u\ntruncated."
		"tables=100\n"
		"complete=%u\nlimit=kernel samples were not permitted: sysctl kernel.perf_event_paranoid=1\n",
		total + 15, total, total - 150, total - 100);
	if (waits)
		strcat(profile, "off_cpu.received=16\noff_cpu.attributed=15\noff_cpu.ns=1000000000\noff_cpu."
				"lost_ns=30000000\n"
				"blocked_before=3\npreempted=7\npreempted_ns=8000000\n");
	tables_finish(tables, profile);
}

void sample_function(const char *path, const char *image, const char *build_id, uint64_t offset,
		     uint64_t size, const char *source, uint32_t line, const char *other)
{
	const struct synth_options options = { .hz = 1000000000 };
	struct synth *synth = synth_new(path, &options);
	struct synth_ring *ring = synth_samples(synth, 0);
	uint32_t event = synth_event(synth, "sample.cpu", "context=%u", EVENT_TYPES, WIRE_KIND_EVENT, "", 0);
	struct tables *tables = tables_new(path, 100);
	uint32_t hot = tables_text(tables, "hot"), contexts[2], caller;
	uint32_t files[2] = { 0, tables_text(tables, source) };

	tables_image(tables, WIRE_IMAGE_FILE, build_id, image);
	tables_task(tables, 1, 1, 1, "hot", image);
	caller = tables_stack(tables, 0, 1, offset + 8);
	files[0] = other ? tables_text(tables, other) : files[1];
	tables_place(tables, 1, offset + 8, offset, size, 0, 0, hot, files[1], line);
	for (uint32_t n = 0; n < 2; n++) {
		contexts[n] = tables_spot(tables, 1, tables_stack(tables, n ? caller : 0, 1, offset + 4 * n));
		tables_place(tables, 1, offset + 4 * n, offset, size, 0, 0, hot, files[n], line - 1 + n);
	}
	for (uint32_t n = 0; n < 100; n++)
		synth_recordf(ring, 1000000000 + n, event, 1, "d", contexts[n % 4 > 0]);
	synth_finish(synth);
	tables_finish(tables, "state=ended\nreceived=100\nattributed=100\n");
}

static uint64_t random_state = 42;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % limit;
}

/*
 * Symbols: 3000 functions in 20 images, 4 places each, a third of them with something inlined. A fifth are instances of
 * templates, whose names differ in brackets only.
 */
static void write_big_symbols(struct tables *tables)
{
	static const char instance[] =
		"project::module%u::instance<project::argument<unsigned long, %u> >(int)";
	char name[96];

	for (uint32_t n = 0; n < 3000; n++) {
		uint32_t text, file;

		snprintf(name, sizeof(name),
			 n % 5 == 1 ? instance : "project::module%u::function_%u(int, char const*)", n % 20,
			 n);
		text = tables_text(tables, name);
		snprintf(name, sizeof(name), "src/module%u/file%u.cc", n % 20, n % 200);
		file = tables_text(tables, name);
		for (uint32_t at = 0; at < 4; at++)
			tables_place(tables, n % 20 + 1, n / 20 * 0x1000 + at * 0x10, n / 20 * 0x1000, 0x100,
				     n % 3 ? 0 : text - (n ? 2 : 0), at + 1, text, file, at + 100);
	}
}

void sample_big(const char *path, uint32_t samples, uint32_t stack_count)
{
	const struct synth_options options = { .hz = 1000000000,
					       .packet_bytes = 1 << 20,
					       .packets_per_file = 64 };
	struct synth *synth = synth_new(path, &options);
	struct synth_ring *rings[] = { synth_samples(synth, 0), synth_samples(synth, 1) };
	uint32_t event = synth_event(synth, "sample.cpu", "context=%u", EVENT_TYPES, WIRE_KIND_EVENT, "", 0);
	struct tables *tables = tables_new(path, 20000);
	uint32_t *stacks = calloc(stack_count + 1, sizeof(*stacks)), made = 0;
	uint8_t *depths = calloc(stack_count + 1, 1);
	char text[512];

	if (!stacks || !depths)
		abort();
	for (uint32_t n = 0; n < 20; n++) {
		snprintf(text, sizeof(text), "/usr/lib/libmodule%u.so", n);
		tables_image(tables, WIRE_IMAGE_FILE, "id", text);
		tables_state(tables, n + 1, WIRE_SYMBOLS_LINES, "");
	}
	for (uint32_t n = 0; n < 8; n++) {
		snprintf(text, sizeof(text), "thread-%u", n);
		tables_task(tables, 100 + n, n < 5 ? 100 : 105, 1, text,
			    n < 5 ? "/usr/bin/big" : "/usr/bin/other");
	}
	/* Each grows out of an earlier one, mostly of a recent one, as in a real program. */
	while (made < stack_count) {
		uint32_t from = made < 8 ? 0 : 1 + made - 1 - random_below(made < 200 ? made : 200);
		uint32_t function = random_below(3000);

		if (from && depths[from] >= 40)
			from = 1 + random_below(made < 50 ? made : 50);
		made++;
		depths[made] = from ? (uint8_t)(depths[from] + 1) : 1;
		stacks[made] = tables_stack(tables, from ? stacks[from] : 0, function % 20 + 1,
					    function / 20 * 0x1000 + random_below(4) * 0x10);
	}
	write_big_symbols(tables);
	for (uint32_t n = 0; n < samples; n++) {
		/* A few stacks have most of the samples. */
		uint32_t limit = random_below(4) ? stack_count / 50 + 1 : stack_count;
		uint32_t task = random_below(8), stack = 1 + random_below(limit);

		synth_recordf(rings[n % 2], 1000000000 + n * UINT64_C(100000), event, 100 + task, "d",
			      tables_spot(tables, task + 1, stacks[stack]));
	}
	synth_finish(synth);
	snprintf(text, sizeof(text),
		 "state=ended\nfrequency=10000\ncall_graph=both\nunit.sample.cpu=ns\nweight.sample.cpu="
		 "100000\n"
		 "received=%u\nattributed=%u\nkernel=0\nuser=%u\ncomplete=%u\n",
		 samples, samples, samples, samples);
	tables_finish(tables, text);
	free(stacks);
	free(depths);
}

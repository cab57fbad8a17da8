/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Makes a trace of events and samples in which every text that others choose is hostile: it has control characters of all
 * kinds, bytes that are no UTF-8, and what separates things in the formats of export. For escape.test:
 *
 *	make-hostile DIR		and with the names of events that the format forbids:
 *	make-hostile DIR names
 */
#include <stdio.h>
#include <string.h>

#include "synth.h"
#include "profile_sample.h"
#include "tables.h"
#include "wire/wire_event.h"
#include "wire/wire_profile.h"

enum {
	SAMPLES = 100,
	IMAGE = 1,
	OFFSET = 0x100,
	PID = 100,
	FIRST_TIME = 1000000000,
};

/* ESC and BEL; C1 in one byte and in UTF-8; right-to-left; cut UTF-8; tags; DEL. */
#define EVIL                                                                                           \
	"\033]0;evil\a\033[31m\x9b"                                                                    \
	"1m\xc2\x9b"                                                                                   \
	"31m\xe2\x80\xae\xe2\x80\x8b\xf3\xa0\x81\x81\xff\xc3\x7f\b\r\n\t\v\f;,\"'\\() 12 345/6 [000] " \
	"1.000000: 1 x: \n\tffff f (g)\n</script>"

static const char evil[] = EVIL;

static void add_events(struct synth *synth, bool names)
{
	struct synth_ring *ring = synth_ring(synth, 0, false);
	const uint32_t event =
		synth_event(synth, names ? "app." EVIL : "app.evil", "text=%s " EVIL " data=%p letter=%c",
			    0xfed, WIRE_KIND_EVENT, EVIL ".c", 7);
	const uint32_t quiet = synth_event(synth, "app.quiet", "=1+1" EVIL, 0, WIRE_KIND_EVENT, "-" EVIL, 8);

	synth_refuse(synth, event, 3, EVIL "other.c", 9);
	synth_process(synth, 1, PID, 1, "/bin/" EVIL, EVIL);
	synth_thread(synth, 2, PID, PID, EVIL);
	synth_recordf(ring, FIRST_TIME, event, PID, "sxb", evil, evil, (int)sizeof(evil), '\033');
	synth_recordf(ring, FIRST_TIME + 1, event, PID, "sxb", "\x9b" WIRE_TRUNCATED, "\a", 1, 0x9b);
	synth_recordf(ring, FIRST_TIME + 2, quiet, PID + 1, "");
}

/* Six functions, so that each stands in front of something that begins a formula. */
static void add_functions(struct tables *tables, uint32_t *stacks, unsigned count)
{
	static const char *const heads[] = { "=", "+", "-", "@", "(1) ", "\t=" };
	char text[512];

	for (unsigned n = 0; n < count; n++) {
		const uint64_t offset = OFFSET * (n + 1);
		uint32_t name, file, inlined;

		snprintf(text, sizeof(text), "%s%u%s", heads[n % 6], n, evil);
		name = tables_text(tables, text);
		inlined = tables_text(tables, EVIL "inlined");
		file = tables_text(tables, EVIL "file.c");
		tables_place(tables, IMAGE, offset, offset, 0x80, n % 2 ? inlined : 0, 3, name, file, n + 1);
		stacks[n] = tables_stack(tables, n ? stacks[n - 1] : 0, IMAGE, offset);
	}
	tables_state(tables, IMAGE, WIRE_SYMBOLS_DYNAMIC, EVIL "-dbg");
}

int main(int argc, char **argv)
{
	const struct synth_options options = { .hz = 1000000000, .command = "./demo\033[31m\x9b" };
	struct synth *synth;
	struct synth_ring *ring;
	struct tables *tables;
	uint32_t event, wait, contexts[12], stacks[12];

	if (argc < 2) {
		fprintf(stderr, "usage: make-hostile DIR [names]\n");
		return 2;
	}
	synth = synth_new(argv[1], &options);
	add_events(synth, argc > 2);
	ring = synth_samples(synth, 0);
	event = synth_event(synth, "sample.cpu", "context=%u", WIRE_U32, WIRE_KIND_EVENT, EVIL, 0);
	wait = synth_event(synth, "sample.off-cpu", "context=%u weight=%lu", WIRE_U32 | WIRE_U64 << 4,
			   WIRE_KIND_EVENT, "", 0);
	tables = tables_new(argv[1], 3);
	tables_image(tables, WIRE_IMAGE_FILE, "\x01\x02", "/usr/bin/" EVIL);
	tables_image(tables, WIRE_IMAGE_FILE, "\x01\x03", "=" EVIL);
	tables_task(tables, PID, PID, IMAGE, "\033[1m 1/1 \x9b=", "/usr/bin/" EVIL);
	tables_task(tables, PID + 1, PID, IMAGE, " 7f x (y)\n", "@" EVIL);
	add_functions(tables, stacks, 12);
	for (unsigned n = 0; n < 12; n++)
		contexts[n] = tables_spot(tables, 1 + n % 2, stacks[n]);
	for (uint32_t n = 0; n < SAMPLES; n++) {
		if (n % 10 == 9)
			synth_recordf(ring, FIRST_TIME + n, wait, PID, "dq", contexts[n % 12],
				      UINT64_C(1000));
		else
			synth_recordf(ring, FIRST_TIME + n, event, PID + n % 12 % 2, "d", contexts[n % 12]);
	}
	synth_finish(synth);
	tables_finish(tables,
		      "state=ended\nreceived=130\nattributed=100\nlost.ring=10\nlost.\033[31m=20\n"
		      "unit.sample.cpu=\033[31m x\x9b\nunit.sample.off-cpu=ns\ntruncated.\033[1m=5\n"
		      "off_cpu.received=10\noff_cpu.attributed=10\n"
		      "frequency=\033[31m1\x9b\ncall_graph=\033[1m\nlimit=\033]0;x\a\xff\xe2\x80\xae\n");
	return 0;
}

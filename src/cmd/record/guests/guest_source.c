/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of a guest as a source of records; see guest_source.h. */
#include "cmd/record/guests/guest_source.h"
#include "cmd/record/names/cmd_symbols.h"
#include "cmd/record/recorder/recorder.h"

static int open_guest(void *state, struct recorder *recorder)
{
	struct guest_source *source = state;

	source->session = recorder->session;
	source->quiet = recorder->quiet;
	guest_publish(source->options, recorder->session);
	return 0;
}

static void begin_guest(void *state, struct recorder *recorder)
{
	struct guest_source *source = state;

	guest_trigger_begin(&source->trigger, source->options->start, source->options->stop,
			    recorder->session);
}

static void look_for_files(void *state, struct recorder *recorder, unsigned *fullest)
{
	(void)fullest;
	guest_trigger_look(&((struct guest_source *)state)->trigger, recorder->session);
}

static void name_functions(void *state, int directory, const char *path, uint64_t deadline_ns)
{
	const struct guest_source *source = state;
	struct cmd_symbols_options names = { .deadline_ns = deadline_ns, .progress = !source->quiet };

	if (!source->options->on)
		return;
	guest_files(source->options, source->session, &names.guests);
	cmd_symbols_calls(directory, path, &names);
}

static void guest_source_summarize(const void *state, const struct recorder *recorder, const char *output)
{
	(void)output;
	guest_note_uncalled(((const struct guest_source *)state)->options, recorder->session);
}

const struct source_ops guest_source = {
	.open = open_guest,
	.begin = begin_guest,
	.round = look_for_files,
	.names = name_functions,
	.summary = guest_source_summarize,
};

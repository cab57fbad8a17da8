/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin record TARGET: follow a program that runs already, and keep what it records from now on, and samples of it.
 *
 * Its rings belong to it and go on being overwritten: nothing is given back, so that there may be several of
 * us, and what comes faster than we can read it is lost, and counted.
 */
#include <stdio.h>

#include "cmd/attach.h"
#include "cmd/cmd.h"
#include "cmd/record.h"
#include "cmd/recording.h"

static const char name[] = "record";

/* How long to sleep before the next round: the fuller the rings were found (percent), the shorter. */
static int pause_ms(unsigned fullest)
{
	return fullest >= 10 ? 1 : fullest >= 3 ? 5 : ATTACH_PAUSE_MS;
}

static void follow(struct attachment *attachment, struct drain *drain, struct sampling *sampling,
		   const struct record_options *options)
{
	struct progress progress;
	unsigned fullest = 0;
	bool more;

	attach_limit(attachment, options->duration);
	progress_begin(&progress, !options->quiet, false);
	do {
		more = attach_wait(attachment, pause_ms(fullest));
		more &= drain_round(drain, &fullest) == 0;
		sampling_round(sampling, drain, &fullest);
		recording_progress(&progress, drain, sampling);
	} while (more);
	progress_clear(&progress);
}

/* Its process is sampled, and what that begins from now on, if nothing else was asked for. */
static struct sampling_options sampling_of(const struct record_options *options,
					   const struct attachment *attachment)
{
	struct sampling_options sampling = options->sampling;

	if (!sampling.system && !sampling.process)
		sampling.process = attach_process(attachment);
	sampling.off |= !sampling.system && !sampling.process; /* it has just ended */
	return sampling;
}

static int record(const struct record_options *options, struct attachment *attachment, const char *output)
{
	const struct target *target = &attachment->target;
	const struct sampling_options sampling_options = sampling_of(options, attachment);
	struct sampling sampling;
	struct drain_totals totals;
	struct drain drain;
	int error;

	sampling_open(&sampling, &sampling_options, &attachment->session, 0, options->quiet);
	error = drain_begin(&drain, &attachment->session, output,
			    &(struct drain_options){ .command = target->header.geometry.program,
						     .attach = true,
						     .split = options->split });

	if (error) {
		sampling_finish(&sampling);
		return recording_refused(name, output, error);
	}
	/* On behind the beginning, off before the end: no record of what is switched on is missed. */
	error = attach_switch(attachment, options->globs, options->quiet);
	if (!error) {
		sampling_begin(&sampling, &drain);
		follow(attachment, &drain, &sampling, options);
	}
	attach_restore(attachment);
	sampling_finish(&sampling);
	drain_finish(&drain, attach_result(attachment), &totals);
	sampling_symbols(&sampling, output, &totals);
	if (error) {
		chunks_discard(output);
		return error;
	}
	if (drain.output.error)
		cmd_failed(name, "%s: %s", output, drain.output.trouble);
	if (!options->quiet && attachment->ended)
		fprintf(stderr, "burin: %s has ended (%s)\n", options->target, attach_result(attachment));
	if (!options->quiet) {
		recording_summary(&totals, output, true);
		sampling_summary(&sampling);
	}
	return drain.output.error || sampling.error ? CMD_FAULTS : 0;
}

int record_target(const struct record_options *options)
{
	struct attachment attachment;
	char output[4096];
	int result = attach_begin(&attachment, name, options->target);

	if (result) {
		if (!*attachment.target.path) /* it is none */
			fprintf(stderr, "to run a command: burin record -- %s\n", options->target);
		return result;
	}
	recording_output(options->output, attachment.target.header.geometry.program, 0, output,
			 sizeof(output));
	result = record(options, &attachment, output);
	attach_end(&attachment);
	return result;
}

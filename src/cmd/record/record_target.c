/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin record TARGET: attach to a running program, and write its records from now on, and samples of it.
 *
 * The rings are the program's own, and it goes on overwriting them. The recorder frees no packets, so several recorders
 * can read at once. Records that are overwritten before they are read are counted as lost.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "session/kernel_device.h"
#include "cmd/record/attach.h"
#include "cmd/cmd.h"
#include "cmd/record/calls_target.h"
#include "cmd/record/cmd_record.h"
#include "cmd/record/recording.h"
#include "cmd/unknown_events.h"

/* The pause before the next round. @fullest: how full the fullest ring was, in percent */
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

/* Without another option, sample the target's process and its children. */
static struct sampling_options sampling_of(const struct record_options *options,
					   const struct attachment *attachment)
{
	struct sampling_options sampling = options->sampling;

	sampling.off |= attachment->target.kernel;
	/* If that fails, the target has just ended. */
	if (!attachment->target.kernel && !sampling.system && !sampling.processes.count)
		sampling.off |= sampling_choose(&sampling, attach_process(attachment)) != 0;
	return sampling;
}

/* In stream mode one reader gives the kernel's packets back. It takes what is in the rings, such as the boot. */
static bool is_claimed(const struct attachment *attachment)
{
	return attachment->session.device && attachment->session.geometry.mode == WIRE_MODE_STREAM;
}

static int record(const struct record_options *options, struct attachment *attachment, const char *output,
		  int directory)
{
	const struct target *target = &attachment->target;
	const struct sampling_options sampling_options = sampling_of(options, attachment);
	/* Static, so that a sampled recorder has a small stack, as in record_command.c. */
	static struct sampling sampling;
	static struct calls_target calls;
	static struct calls names; /* of the calls */
	static struct kernel_events kernel;
	static struct drain drain;
	struct drain_totals totals;
	unsigned unknown;
	int error, trimmed, result;

	/* The functions first: until their event is on, nothing is recorded. */
	error = calls_target_begin(&calls, &options->calls, attachment, options->quiet);
	if (!error)
		error = kernel_events_open(&kernel, &options->kernel, &attachment->session,
					   options->sampling.system, false, 0, &sampling_options.processes);
	if (error) {
		calls_target_end(&calls, attachment);
		chunks_discard(directory, output);
		close(directory);
		return error;
	}
	sampling_open(&sampling, &sampling_options, &attachment->session, 0, options->quiet);
	error = drain_begin(&drain, &attachment->session, directory,
			    &(struct drain_options){ .command = target->geometry.program,
						     .attach = !is_claimed(attachment),
						     .globs = options->globs,
						     .kernel_threads = kernel.threads,
						     .split = options->split,
						     .more = kernel_events_more(&kernel) });
	if (error) {
		calls_target_end(&calls, attachment);
		sampling_finish(&sampling);
		kernel_events_finish(&kernel);
		kernel_events_close(&kernel);
		return recording_refused(output, directory, error);
	}
	/* Switch on after the beginning and off before the end: then no record of these events is missed. */
	error = attach_switch(attachment, options->globs, options->quiet);
	if (!error) {
		calls_target_note(&calls, &attachment->session);
		sampling_begin(&sampling, &drain);
		follow(attachment, &drain, &sampling, options);
	}
	result = calls_target_end(&calls, attachment);
	result = attach_restore(attachment) ?: result;
	sampling_finish(&sampling);
	kernel_events_finish(&kernel);
	if (is_claimed(attachment))
		kernel_device_close_packets(&attachment->session);
	drain_finish(&drain, attach_result(attachment), &totals);
	kernel_events_close(&kernel);
	sampling_symbols(&sampling, directory, output, &totals);
	names.options = &options->calls;
	names.target = target;
	names.quiet = options->quiet;
	calls_symbols(&names, directory, output, &totals);
	if (error)
		chunks_discard(directory, output);
	close(directory);
	if (error)
		return error;
	if (drain.output.error)
		cmd_failed("%s: %s", output, drain.output.trouble);
	if (!options->quiet && attachment->ended)
		cmd_note("burin: %s has ended (%s)\n", options->target, attach_result(attachment));
	trimmed = recording_trimmed(&totals, output);
	if (!options->quiet)
		recording_summary(&totals, output, true, &sampling);
	if (!options->quiet)
		kernel_events_summary(&kernel);
	unknown = attachment->ended
			  ? 0
			  : unknown_events_of(&attachment->session, options->globs, options->target, NULL);
	return drain.output.error || sampling.error || trimmed ? CMD_FAULTS
	       : result					       ? result
	       : unknown				       ? CMD_USAGE
							       : 0;
}

/* Refuse options that only a program has. Return: 0 or CMD_USAGE. */
static int refuse_for_kernel(const struct record_options *options)
{
	const char *option = options->kernel.globs.count	 ? "--kernel"
			     : options->calls.on		 ? "--calls"
			     : options->sampling.system		 ? "--all"
			     : options->sampling.processes.count ? "--pid"
								 : NULL;

	return option ? cmd_usage("%s: TARGET kernel has its own events, which --event selects; remove %s",
				  option, option)
		      : 0;
}

/* Return: 0 or CMD_FAULTS. */
static int claim(const struct attachment *attachment)
{
	const int error = is_claimed(attachment) ? kernel_device_claim(&attachment->session) : 0;

	return !error ? 0
	       : error == -EBUSY
		       ? cmd_failed("%s: another process is recording it; use burin snapshot",
				    attachment->word)
		       : cmd_failed("%s: cannot read its events: %s", attachment->word, strerror(-error));
}

int record_target(const struct record_options *options)
{
	static char output[4096];
	struct attachment attachment;
	char pid[CALLS_TARGET_WORD];
	const char *word;
	int result, directory;

	if (strcmp(options->target, TARGET_KERNEL) == 0 && refuse_for_kernel(options))
		return CMD_USAGE;
	word = options->calls.on ? calls_target_open(options->target, pid) : options->target;
	if (!word)
		return CMD_USAGE;
	result = attach_begin(&attachment, word);
	if (result) {
		if (!*attachment.target.path) /* no such target */
			cmd_note("to run a command: burin record -- %s\n", options->target);
		return result;
	}
	if (attachment.target.kernel)
		result = refuse_for_kernel(options) ?: cmd_target_globs(&attachment.target, options->globs);
	if (!result)
		result = claim(&attachment);
	if (result)
		return attach_end(&attachment, result);
	recording_output(options->output, attachment.target.geometry.program, 0, output, sizeof(output));
	directory = recording_create("-o", output,
				     options->sampling.system || attachment.target.kernel ||
					     attachment.target.user != geteuid());
	result = directory < 0 ? CMD_FAULTS : record(options, &attachment, output, directory);
	return attach_end(&attachment, result);
}

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
#include "cmd/record/recorder/attach.h"
#include "cmd/cmd.h"
#include "cmd/record/sources/calls_target.h"
#include "cmd/record/cmd_record.h"
#include "cmd/record/record_sources.h"
#include "cmd/record/recorder/recorder.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/unknown_events.h"

/* The pause before the next round. @fullest: how full the fullest ring was, in percent */
static int record_target_pause_ms(unsigned fullest)
{
	return fullest >= 10 ? 1 : fullest >= 3 ? 5 : ATTACH_PAUSE_MS;
}

static void record_target_follow(struct attachment *attachment, struct recorder *recorder, uint64_t duration)
{
	unsigned fullest = 0;
	bool more;

	attach_limit(attachment, duration);
	progress_begin(&recorder->progress, !recorder->quiet, false);
	do {
		more = attach_wait(attachment, recorder_pause_ms(recorder, record_target_pause_ms(fullest)));
		more &= recorder_round(recorder, &fullest);
	} while (more);
	progress_clear(&recorder->progress);
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

/* Return: the exit code. */
static int record_target_report(const struct record_options *options, const struct recorder *recorder)
{
	struct attachment *attachment = recorder->attachment;
	const int result = recorder_result(recorder);
	unsigned unknown;

	if (!recorder->quiet && attachment->ended)
		cmd_note("burin: %s has ended (%s)\n", options->target, attach_result(attachment));
	if (!recorder->quiet)
		recorder_summary(recorder, true);
	unknown = attachment->ended
			  ? 0
			  : unknown_events_of(&attachment->session, options->globs, options->target, NULL);
	return result ? result : unknown ? CMD_USAGE : 0;
}

/*
 * Switch events on, under the user's conditions. Without --event these are all if none is on, and those of 'GLOB: EXPR'.
 * @rules: to be freed behind attach_restore()
 * Return: 0; CMD_USAGE: a condition does not fit; CMD_FAULTS; in any case attach_restore() switches back.
 */
static int record_target_switch(const struct record_options *options, const struct recorder *recorder,
				struct record_rules *rules)
{
	struct attachment *attachment = recorder->attachment;
	const bool all =
		!*options->globs && enable_lease_lasting(&attachment->session, attachment->file) == 0;
	int error;

	*rules = (struct record_rules){ 0 };
	if (!options->where.conditions.count)
		return attach_switch(attachment, options->globs, NULL, recorder->quiet);
	error = record_where_rules(&options->where, all ? "*" : NULL, options->globs, true, rules);
	if (error)
		return record_where_failed(error);
	error = attach_switch(attachment, rules->globs, rules->wheres, recorder->quiet);
	if (!error && record_where_end(&options->where, &attachment->session, &attachment->lease))
		error = CMD_USAGE;
	return error;
}

static int record_target_record(const struct record_options *options, struct recorder *recorder)
{
	struct attachment *attachment = recorder->attachment;
	struct record_rules rules;
	int error = recorder_open(recorder);
	bool unfit = false;

	if (error)
		return error;
	/* Switch on after the beginning and off before the end: then no record of these events is missed. */
	error = record_target_switch(options, recorder, &rules);
	if (!error) {
		recorder_begin(recorder);
		record_target_follow(attachment, recorder, options->duration);
		/* Of events that came later. */
		unfit = record_where_end(&options->where, &attachment->session, &attachment->lease);
	}
	recorder_finish(recorder);
	recorder->faulted |= attach_restore(attachment) != 0;
	record_rules_free(&rules);
	if (is_claimed(attachment))
		kernel_device_close_packets(&attachment->session);
	recorder_complete(recorder, attach_result(attachment));
	if (error)
		recorder_discard(recorder);
	else
		error = record_target_report(options, recorder) ?: unfit ? CMD_USAGE : 0;
	close(recorder->directory);
	return error;
}

static bool record_target_is_private(const struct record_options *options,
				     const struct attachment *attachment)
{
	return options->sampling.system || attachment->target.kernel || attachment->target.user != geteuid();
}

static struct recorder record_target_recorder_of(const struct record_options *options,
						 struct attachment *attachment)
{
	return (struct recorder){
		.session = &attachment->session,
		.sources = record_sources_of_target(options),
		.attachment = attachment,
		.processes = &options->sampling.processes,
		.all = options->sampling.system,
		.private = record_target_is_private(options, attachment),
		.quiet = options->quiet,
		.no_symbols = options->sampling.no_symbols,
		.names_ns = options->sampling.names_ns,
		.options = { .command = attachment->target.geometry.program,
			     .attach = !is_claimed(attachment),
			     .globs = options->globs,
			     .split = options->split },
	};
}

/* Refuse options that only a program has. Return: 0 or CMD_USAGE. */
static int refuse_for_kernel(const struct record_options *options)
{
	const char *option = options->kernel.globs.count	 ? "--kernel"
			     : options->calls.on		 ? "--calls"
			     : options->sampling.system		 ? "--all"
			     : options->sampling.processes.count ? "--pid"
								 : NULL;

	for (size_t n = 0; !option && n < options->where.conditions.count; n++)
		if (record_where_has_glob(options->where.conditions.globs[n]))
			return cmd_usage("--where: of TARGET kernel, give the events to --event, and the "
					 "expression alone");
	return option ? cmd_usage("%s: TARGET kernel has its own events, which --event selects; remove %s",
				  option, option)
		      : 0;
}

/* Return: 0 or CMD_FAULTS. */
static int record_target_claim(const struct attachment *attachment)
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
	static struct attachment attachment;
	static struct recorder recorder; /* not on the stack: see record_sources.h */
	static struct record_options own;
	char pid[CALLS_TARGET_WORD];
	const char *word;
	int result;

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
		result = record_target_claim(&attachment);
	if (result)
		return attach_end(&attachment, result);
	own = *options;
	own.sampling = sampling_of(options, &attachment);
	recorder = record_target_recorder_of(&own, &attachment);
	recording_output(options->output, attachment.target.geometry.program, 0, recorder.output,
			 sizeof(recorder.output));
	return attach_end(&attachment, record_target_record(&own, &recorder));
}

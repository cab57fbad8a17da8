/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sources of `burin record`; see record_sources.h. */
#include "cmd/record/guests/guest_source.h"
#include "cmd/record/record_sources.h"
#include "cmd/record/sources/calls_target.h"
#include "cmd/record/sources/counters.h"
#include "cmd/record/sources/kernel_events.h"
#include "cmd/record/sources/record_calls.h"
#include "cmd/record/sources/sampling.h"

static struct guest_source guest;
static struct calls calls;
static struct calls_target calls_target;
static struct kernel_events kernel;
static struct sampling sampling;
static struct counters counters;

/* Samples behind the kernel's events: these take longer to open, and would be sampled. */
static const struct source of_command[] = {
	{ &guest_source, &guest },	    /* --guest */
	{ &calls_source, &calls },	    /* --calls */
	{ &kernel_events_source, &kernel }, /* --kernel */
	{ &sampling_source, &sampling },    /* unless --no-samples */
	{ &counters_source, &counters },    /* --counters */
	{ 0 },
};

static const struct source of_target[] = {
	{ &calls_target_source, &calls_target }, /* --calls */
	{ &kernel_events_source, &kernel },	 /* --kernel */
	{ &sampling_source, &sampling },	 /* unless --no-samples */
	{ 0 },
};

static void set_options(const struct record_options *options)
{
	guest.options = &options->guest;
	calls.options = &options->calls;
	calls_target.options = &options->calls;
	kernel.choice = &options->kernel;
	sampling.options = &options->sampling;
	counters.options = &options->counters;
}

const struct source *record_sources_of_command(const struct record_options *options)
{
	set_options(options);
	return of_command;
}

const struct source *record_sources_of_target(const struct record_options *options)
{
	set_options(options);
	return of_target;
}

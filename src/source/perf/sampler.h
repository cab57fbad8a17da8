/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The sampler reads the rings of the kernel, or of programs that sample themselves. It writes the streams and tables of
 * samples in a trace. It is a part of the recorder.
 */
#ifndef BURIN_SOURCE_PERF_SAMPLER_H
#define BURIN_SOURCE_PERF_SAMPLER_H

#include "source/perf/sampler_state.h"

/*
 * sampler_open - open the kernel's events, and register the sample event in the session.
 * @why: the reason of an error
 * Return: 0 or -errno.
 */
int sampler_open(struct sampler *sampler, struct session *session, const struct perf_options *options,
		 char *why, size_t bytes);

/*
 * sampler_open_preload - the same without the kernel's events. The command samples itself, if its environment
 * contains ->preload.wanted and it loads the library.
 */
int sampler_open_preload(struct sampler *sampler, struct session *session, const struct perf_options *options,
			 char *why, size_t bytes);

/*
 * sampler_open_live - the same without a session and a trace: @take gets each sample instead. Begin with sampler_begin(), without a
 * directory (-1); end with sampler_close().
 */
int sampler_open_live(struct sampler *sampler, const struct perf_options *options, sampler_take *take,
		      void *data, char *why, size_t bytes);

/*
 * sampler_begin - start sampling and writing.
 * @directory: of the trace, which has its metadata; the caller closes it
 * Return: 0 or -errno; then sampler_close().
 */
int sampler_begin(struct sampler *sampler, int directory);

/* sampler_round - read all rings. @fullest: raised to the fill of the fullest ring, in percent */
void sampler_round(struct sampler *sampler, unsigned *fullest);

/*
 * sampler_keep - which files are needed: those that have samples in a trace that stays. Before sampler_round() and
 * sampler_next().
 * @chunk: the trace that is written then: its number among the chunks of the recording; 0: it is the only one
 * @names: whether names will be sought at all
 * @removed: the chunks up to this one are removed; 0: none
 */
void sampler_keep(struct sampler *sampler, unsigned chunk, bool names, unsigned removed);

/*
 * sampler_next - finish this trace, and continue in another one.
 * @directory: as for sampler_begin()
 * @totals: of the finished trace; samples that are not yet sorted belong to the next one
 * Return: 0 or the first write error.
 */
int sampler_next(struct sampler *sampler, int directory, struct sampler_totals *totals);

/* sampler_lost - samples that a live sampler has lost so far. */
uint64_t sampler_lost(const struct sampler *sampler);

/* sampler_forget - from time to time: free the stacks of a live sampler, which are new from then on. */
void sampler_forget(struct sampler *sampler);

/* sampler_finish - read the rest, and finish the trace; then sampler_close(). Return: 0 or the first write error. */
int sampler_finish(struct sampler *sampler, struct sampler_totals *totals);

/* sampler_add - add a trace's totals to a sum. */
void sampler_add(struct sampler_totals *sum, const struct sampler_totals *totals);

/*
 * sampler_release - after sampler_finish(): free everything but the files of images. The look-up of names forks for each
 * image, and the kernel copies the page tables of all memory each time.
 */
void sampler_release(struct sampler *sampler);

/* sampler_close - free everything; writes nothing. */
void sampler_close(struct sampler *sampler);

#endif

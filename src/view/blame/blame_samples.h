/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples of threads that ran, while spans still need them. */
#ifndef BURIN_VIEW_BLAME_BLAME_SAMPLES_H
#define BURIN_VIEW_BLAME_BLAME_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

struct blame_sample {
	uint64_t time; /* ns */
	uint64_t weight;
	uint32_t stack; /* of the profile */
};

struct blame_sample_list {
	struct blame_sample *samples; /* from ->first on, in order of time */
	size_t first, count, room;
};

/* All 0 at first. */
struct blame_samples {
	struct blame_sample_list *lists; /* by thread */
	size_t room;
	size_t kept;
	uint64_t dropped; /* times that too many were kept, and all were forgotten */
};

/* blame_samples_keep - add one. @floor: those before this time are not needed any more. Return: 0; -ENOMEM. */
int blame_samples_keep(struct blame_samples *samples, size_t thread, const struct blame_sample *sample,
		       uint64_t floor);

/* blame_samples_find - those of a thread behind a time, up to another one. Return: the first one; @count: how many */
const struct blame_sample *blame_samples_find(const struct blame_samples *samples, size_t thread,
					      uint64_t from, uint64_t to, size_t *count);

void blame_samples_free(struct blame_samples *samples);

#endif

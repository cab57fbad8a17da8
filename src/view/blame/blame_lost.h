/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Times in which records of the kernel were lost: the states of threads in them are not known. */
#ifndef BURIN_VIEW_BLAME_BLAME_LOST_H
#define BURIN_VIEW_BLAME_BLAME_LOST_H

#include "burin/read.h"

struct blame_gap {
	uint64_t begin, end; /* ns */
};

struct blame_lost {
	struct blame_gap *gaps; /* in order of time; they do not overlap */
	size_t count, room;
};

/* blame_lost_make - find them. Return: 0; -ENOMEM. */
int blame_lost_make(struct blame_lost *lost, const struct burin_trace *trace);
void blame_lost_free(struct blame_lost *lost);

/* blame_lost_next - the first gap that ends behind a time. Return: NULL: there is no such gap. */
const struct blame_gap *blame_lost_next(const struct blame_lost *lost, uint64_t time);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Two profiles beside each other: what has a larger or smaller share of the samples, and whether chance alone would
 * make such a difference.
 *
 * A sample is a draw: it hits a function or not. So a share is a proportion, and two of them are compared by the
 * two-proportion z-test, with the pooled share. Where samples weigh differently, as waits do, a few heavy ones decide:
 * they are worth as many equal draws as Kish's effective size tells, the square of the sum of the weights by the sum of
 * their squares. As many functions are compared, the chance is multiplied by their
 * number (Bonferroni): `chance` is that of at least one such difference among them all, at most.
 */
#ifndef BURIN_VIEW_DIFF_H
#define BURIN_VIEW_DIFF_H

#include "view/profile.h"

struct view_change {
	uint32_t name;	    /* in strings */
	uint64_t weight[2]; /* of A and of B */
	double share[2];    /* of all weights, percent */
	double chance;	    /* 0 to 1 */
};

struct view_diff {
	struct view_strings strings;
	struct view_change *changes; /* the largest change of a share first */
	size_t count;
	const struct view_profile *of[2]; /* A and B */
};

/* `total`: compare what functions and their callees have, instead of their own. Return: 0 or -ENOMEM. */
int view_diff_make(struct view_diff *diff, const struct view_profile *one, const struct view_profile *other,
		   enum view_part part, bool total);
void view_diff_free(struct view_diff *diff);

/* What has a chance above `chance_max` is left out, and counted. */
void view_diff_text(const struct view_diff *diff, double chance_max, bool color, struct view_buffer *out);
void view_diff_json(const struct view_diff *diff, double chance_max, struct view_buffer *out);

#endif

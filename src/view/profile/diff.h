/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Two profiles compared: which functions have a larger or smaller share of the samples, and whether chance alone could
 * make such a difference.
 *
 * A sample is a draw that hits a function or not. So a share is a proportion, and the two-proportion z-test compares two
 * of them, with the pooled share. Where weights differ, as those of waits do, a few heavy samples decide. The number of
 * draws is therefore Kish's effective size: the square of the sum of the weights, divided by the sum of their squares.
 * Since many functions are compared, the chance is multiplied by their number (Bonferroni): `chance` is an upper bound
 * for the chance of at least one such difference among them all.
 */
#ifndef BURIN_VIEW_PROFILE_DIFF_H
#define BURIN_VIEW_PROFILE_DIFF_H

#include "view/profile/profile_view.h"

struct view_change {
	uint32_t name;	    /* in strings */
	uint64_t weight[2]; /* of A and of B */
	double share[2];    /* of all weights, percent */
	double chance;	    /* 0 to 1 */
};

struct view_diff {
	struct view_strings strings;
	struct view_change *changes; /* largest change of share first */
	size_t count;
	const struct view_profile *of[2]; /* A and B */
};

/*
 * Compares functions.
 * @total: total costs instead of self costs. @fold: as for view_rows_make(). Return: 0 or -ENOMEM.
 */
int view_diff_make(struct view_diff *diff, const struct view_profile *one, const struct view_profile *other,
		   bool total, bool fold);
void view_diff_free(struct view_diff *diff);

/* Changes whose chance is above @chance_max are left out; the text counts them. */
void view_diff_text(const struct view_diff *diff, double chance_max, bool color, struct view_buffer *out);
void view_diff_json(const struct view_diff *diff, double chance_max, struct view_buffer *out);

#endif

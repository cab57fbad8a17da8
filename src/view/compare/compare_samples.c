/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The shares of functions; see compare.h.
 *
 * Samples of one function come in groups: a program does one thing, then another. So a recording is counted slice by slice, and the parts that
 * a function has of the slices show how much its share would differ in another one. Where weights differ, as those of waits do, a few heavy
 * samples decide: the draws are Kish's effective number, the square of the sum of the weights, divided by the sum of their squares.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "view/compare/compare.h"

/* By name. */
struct sliced {
	double parts[COMPARE_SLICES];
};

struct slicing {
	struct compare *compare;
	const struct view_profile *counted;
	struct sliced *rows; /* by name */
	size_t room;
	uint32_t count;
	double whole[COMPARE_SLICES];
	bool total, fold;
};

static int compare_samples_row(struct slicing *slicing, const struct view_rows *rows,
			       const struct view_row *row, unsigned slice)
{
	struct compare *compare = slicing->compare;
	const uint32_t name = view_string(&compare->names, view_row_text(rows, row, VIEW_SYMBOL));
	const double weight = (double)(slicing->total ? row->total.all : row->self.all);

	if (compare->names.failed || !array_reserve_zeroed(slicing->rows, slicing->room, (size_t)name + 1))
		return -ENOMEM;
	slicing->rows[name].parts[slice] += weight;
	slicing->count = name >= slicing->count ? name + 1 : slicing->count;
	return 0;
}

static int compare_samples_slice(struct slicing *slicing, const struct view_profile_filter *filter,
				 unsigned slice)
{
	struct view_profile part;
	struct view_rows rows;
	int result = view_profile_part(&part, slicing->counted, filter);

	if (result)
		return result;
	slicing->whole[slice] = (double)part.weight;
	result = view_rows_make(&rows, &part, 1u << VIEW_SYMBOL, slicing->fold);
	for (size_t n = 0; !result && n < rows.count; n++)
		result = compare_samples_row(slicing, &rows, &rows.rows[n], slice);
	view_rows_free(&rows);
	view_profile_part_free(&part);
	return result;
}

/* Count all slices of the time that is selected. */
static int compare_samples_read(struct slicing *slicing, const struct view_profile_filter *filter)
{
	struct view_profile_filter part = *filter;
	uint64_t begin, end;
	int result = 0;

	if (!compare_range(slicing->counted->trace, filter, &begin, &end))
		return 0;
	for (unsigned n = 0; n < COMPARE_SLICES && !result; n++) {
		const unsigned __int128 wide = (unsigned __int128)(end - begin) + 1;

		part.from = n ? part.to : filter->from;
		part.to = n == COMPARE_SLICES - 1 ? filter->to
						  : begin + (uint64_t)(wide * (n + 1) / COMPARE_SLICES);
		if (part.to > part.from || !part.to)
			result = compare_samples_slice(slicing, &part, n);
	}
	return result;
}

static int compare_samples_add(const struct slicing *slicing, double draws)
{
	int result = 0;

	for (uint32_t name = 0; name < slicing->count && !result; name++) {
		const struct significance_value share =
			compare_ratio(slicing->rows[name].parts, slicing->whole);

		if (share.value > 0)
			result = compare_add(slicing->compare, name, COMPARE_SHARE, share,
					     (uint64_t)(share.value * draws + 0.5));
	}
	return result;
}

int compare_samples(struct compare *compare, const struct view_profile *counted,
		    const struct view_profile_filter *filter, bool total, bool fold)
{
	struct compare_recording *recording = &compare->recordings[compare->at - 1];
	struct slicing slicing = { .compare = compare, .counted = counted, .total = total, .fold = fold };
	int result = compare_samples_read(&slicing, filter);

	view_losses_read(counted->trace, &recording->losses);
	view_losses_add(
		&recording->losses,
		(struct view_loss){ "samples", "samples", view_ledger_lost(counted->profile), false, true });
	view_head_text(counted, &recording->head);
	recording->count = counted->samples;
	recording->size = counted->weight;
	recording->unit = counted->unit;
	recording->draws = counted->squares > 0
				   ? (double)counted->weight * (double)counted->weight / counted->squares
				   : 0;
	if (!result)
		result = compare_samples_add(&slicing, recording->draws);
	free(slicing.rows);
	return result;
}

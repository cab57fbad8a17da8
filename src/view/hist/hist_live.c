/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts of the kernel as rows of burin hist; see hist.h. */
#include <errno.h>
#include <string.h>

#include "view/hist/hist.h"

void hist_live_begin(struct hist *hist, const struct hist_options *options)
{
	*hist = (struct hist){ .options = options };
}

int hist_live_add(struct hist *hist, const struct hist_addition *addition)
{
	struct hist_key key;
	struct hist_row *row;
	int result;

	memset(&key, 0, sizeof(key));
	key.event = view_string(&hist->strings, addition->event);
	for (unsigned n = 0; n < hist->options->by_count; n++)
		key.by[n] = view_string(&hist->strings, addition->by[n]);
	if (addition->value)
		key.value = view_string(&hist->strings, addition->value);
	key.slot = addition->slot;
	if (hist->strings.failed)
		return -ENOMEM;
	result = hist_find_row(hist, &key, &row);
	if (result)
		return result;
	row->records += addition->records;
	hist->records += addition->records;
	hist->by_value |= addition->value != NULL;
	hist->by_number |= addition->integers != NULL;
	if (addition->integers && !value_counts_add_integers(&row->values, addition->integers))
		return -ENOMEM;
	return 0;
}

int hist_live_end(struct hist *hist, const struct view_losses *losses, const struct hist_interval *intervals,
		  double seconds)
{
	int result;

	hist->intervals = intervals;
	result = hist_sort(hist);
	hist->losses = losses;
	hist->seconds = seconds;
	hist_set_rate(hist, seconds);
	return result;
}

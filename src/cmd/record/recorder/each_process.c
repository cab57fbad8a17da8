/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Processes, and all that they have started; see each_process.h. */
#include "cmd/record/recorder/each_process.h"

#include <errno.h>

#include "source/perf/rings/process_list.h"

int each_process(const struct view_set *processes, int looks, int (*each)(void *context, pid_t process),
		 void *context)
{
	struct process_list list = { .count = 0 };
	int error = 0;

	for (int look = 0; look < looks && !error && processes->count; look++) {
		if (!look)
			for (size_t n = 0; n < processes->count && !error; n++)
				error = process_list_add(&list, (pid_t)processes->numbers[n]);
		if (!error)
			error = process_list_extend(&list);
		for (size_t n = 0; n < list.count && !error; n++) {
			error = each(context, list.pids[n]);
			error = error == -ESRCH ? 0 : error;
		}
	}
	process_list_free(&list);
	return error;
}

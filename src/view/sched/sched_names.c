/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of threads; see sched_names.h. */
#include "view/sched/sched_names.h"

#include <stdlib.h>

#include "base/containers/array.h"
#include "read/trace.h"

uint32_t sched_names_find(struct sched_names *names, const struct sched *sched, size_t number, uint64_t ns)
{
	const uint64_t ticks = burin_trace_ticks(names->trace, (int64_t)ns);
	const struct burin_thread *thread;
	struct sched_name *name;

	if (!array_reserve_zeroed(names->names, names->room, number + 1))
		return 0;
	name = &names->names[number];
	if (!name->name || ticks < name->from || ticks > name->until) {
		thread = read_thread_find(names->trace, sched->threads[number].tid, ticks, &name->from,
					  &name->until);
		name->name = view_string(names->strings, thread ? thread->name : "[unknown]");
	}
	return name->name;
}

void sched_names_free(struct sched_names *names)
{
	free(names->names);
	*names = (struct sched_names){ .trace = NULL };
}

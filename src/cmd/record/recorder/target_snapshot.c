/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Snapshots of other processes' sessions; see target_snapshot.h. */
#include "cmd/record/recorder/target_snapshot.h"

#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "session/session.h"
#include "source/kernel/kernel_share.h"

/* The kernel's rings of a recorder. They are read only if its session is ours: another user could name any process's. */
static const struct drain_more *kernel_of(const struct target *target, const struct session *session,
					  struct kernel_borrowed *borrowed)
{
	int found;

	*borrowed = (struct kernel_borrowed){ .bytes = 0 };
	if (target->user != geteuid() || target->state != TARGET_RUNS)
		return NULL;
	found = kernel_borrow(borrowed, session);
	if (found < 0)
		cmd_note("burin: no kernel events: those of its recorder, process %u: %s\n",
			 target->geometry.owner, strerror(-found));
	return found > 0 ? &borrowed->reader.more : NULL;
}

int target_snapshot(struct session *session, const struct target *target, int directory, const char *path,
		    struct drain_options *options, struct drain_totals *totals)
{
	struct kernel_borrowed kernel;
	int result;

	options->more = kernel_of(target, session, &kernel);
	result = recording_snapshot(session, target, directory, path, options, totals);
	kernel_borrow_end(&kernel);
	return result;
}

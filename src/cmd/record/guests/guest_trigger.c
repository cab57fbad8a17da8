/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files that start and stop the recording of a guest; see guest_trigger.h. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/guests/guest_trigger.h"

const char *guest_trigger_path(const char *word)
{
	static const char prefix[] = "file:";
	const size_t bytes = sizeof(prefix) - 1;

	return word && strncmp(word, prefix, bytes) == 0 && word[bytes] ? word + bytes : NULL;
}

static bool guest_trigger_exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int guest_trigger_check(const char *start, const char *stop)
{
	const char *path = guest_trigger_path(stop);

	if (path && start && strcmp(start, stop) == 0)
		return cmd_usage("--guest-stop: %s is the file of --guest-start, too; give another one",
				 path);
	if (path && guest_trigger_exists(path))
		return cmd_usage("--guest-stop: %s exists already; remove it first", path);
	return 0;
}

static void guest_trigger_record(const struct session *session, bool on)
{
	__atomic_store_n(&session->calls.header->guest_waits, !on, __ATOMIC_RELAXED);
}

void guest_trigger_begin(struct guest_trigger *trigger, const char *start, const char *stop,
			 const struct session *session)
{
	trigger->start = guest_trigger_path(start);
	trigger->stop = guest_trigger_path(stop);
	if (trigger->start)
		guest_trigger_record(session, false);
	guest_trigger_look(trigger, session);
}

void guest_trigger_look(struct guest_trigger *trigger, const struct session *session)
{
	if (trigger->start && guest_trigger_exists(trigger->start)) {
		trigger->start = NULL;
		guest_trigger_record(session, true);
	}
	if (!trigger->start && trigger->stop && guest_trigger_exists(trigger->stop)) {
		trigger->stop = NULL;
		guest_trigger_record(session, false);
	}
}

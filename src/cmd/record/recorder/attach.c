/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Attaching to a running program; see attach.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/record/recorder/attach.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/unknown_events.h"
#include "session/clock.h"
#include "session/places/directory.h"
#include "session/kernel_device.h"

enum {
	/* Between searches while a process lives that is watched: others may join. */
	ATTACH_SEARCH_NS = 1000000000,
	/* Lines of mappings that are read of one process; beyond that, it counts as a user. */
	ATTACH_LINES = 1 << 20,
};

/* Refuse a session without a running program, or of a recorder. Return: 0, or CMD_* after a message. */
static int attach_refuse(const char *word, const struct target *target)
{
	if (target_is_left(target))
		return cmd_failed("%s: its recorder has ended and left records in memory; burin recover DIR "
				  "completes the trace in DIR, burin snapshot %s writes a new one",
				  word, word);
	if (target->geometry.owner_kind == WIRE_OWNER_RECORDER)
		return cmd_failed("%s: burin record (process %u) is recording it; use burin snapshot", word,
				  target->geometry.owner);
	if (target->state == TARGET_ENDED || target->state == TARGET_DIED)
		return cmd_failed("%s: the program has ended; burin snapshot writes its last records", word);
	return cmd_target_sure(word, target);
}

/* Locks of the lease need the file open. */
static int attach_open_file(struct attachment *attachment)
{
	const struct target *target = &attachment->target;
	const char *why = "";

	attachment->file = target_file(target, false, &why);
	if (attachment->file < 0)
		return cmd_target_refused(target->path, why, attachment->file);
	if (fstat(attachment->file, &attachment->identity) != 0)
		return cmd_failed("%s: %s", target->path, strerror(errno));
	return 0;
}

static void search_processes(struct attachment *attachment)
{
	const uint64_t time = clock_ns(CLOCK_MONOTONIC);

	if (attachment->target
		    .kernel) /* it does not end before the machine; the module cannot be unloaded now */
		return;
	if (attachment->processes.count && time - attachment->searched < ATTACH_SEARCH_NS)
		return;
	attachment->searched = time;
	attachment->ended = !process_ends_search(&attachment->processes, attachment->session.shared,
						 &attachment->identity);
}

int attach_begin(struct attachment *attachment, const char *word)
{
	struct target *target = &attachment->target;
	int result;

	*attachment = (struct attachment){
		.word = word, .file = -1, .signals = -1, .processes.ends = -1, .until = UINT64_MAX
	};
	result = cmd_target_open(word, target, &attachment->session);
	if (result)
		return result;
	result = attach_refuse(word, target) ? CMD_USAGE : 0;
	if (!result)
		result = attach_open_file(attachment);
	if (!result && process_ends_begin(&attachment->processes) != 0)
		result = cmd_failed("epoll: %s", strerror(errno));
	if (!result)
		search_processes(attachment);
	if (!result)
		attachment->signals = recording_signals(NULL, NULL);
	if (!result && attachment->signals < 0)
		result = cmd_failed("signals: %s", strerror(errno));
	return result ? attach_end(attachment, result) : 0;
}

int attach_switch(struct attachment *attachment, const char *const *globs, const char *const *wheres,
		  bool quiet)
{
	static const char *const all[] = { "*", NULL };
	struct session *session = &attachment->session;
	unsigned on = enable_lease_lasting(session, attachment->file), matched;
	char count[TEXT_SHORT];
	int error;

	if (!*globs && on) {
		if (!quiet)
			cmd_note("burin: %s event%s already on, and recorded as is (use -e to record "
				 "others)\n",
				 text_count(count, on), on == 1 ? " is" : "s are");
		return 0;
	}
	error = enable_lease_begin(&attachment->lease, session, attachment->file, *globs ? globs : all,
				   wheres, &matched);
	if (error == -ENOSPC && wheres)
		return cmd_failed("--where: the conditions are too long for the session of %s",
				  attachment->word);
	if (error)
		return cmd_failed("%s: cannot switch events on: %s", attachment->word,
				  kernel_device_explain(error));
	if (!quiet && !unknown_events_of(session, globs, attachment->word, "it is recorded") && !matched)
		cmd_note("burin: no event matches yet; events that match later are switched on\n");
	if (attachment->lease.kept && !quiet)
		cmd_note("burin: %s event%s of --where %s already on, and recorded as is (burin dump --where "
			 "selects records)\n",
			 text_count(count, attachment->lease.kept), text_plural(attachment->lease.kept),
			 attachment->lease.kept == 1 ? "is" : "are");
	if (session->shared->paused && !quiet)
		cmd_note("burin: %s is paused and records nothing; to resume: burin resume %s\n",
			 attachment->word, attachment->word);
	return 0;
}

void attach_limit(struct attachment *attachment, uint64_t duration)
{
	attachment->until = duration ? clock_ns(CLOCK_MONOTONIC) + duration : UINT64_MAX;
}

/* Inodes of several file systems may be equal: sample only a process of the session's user. */
static bool can_be_sampled(const struct attachment *attachment, uint32_t pid)
{
	uint64_t lines = ATTACH_LINES;

	return pid && directory_maps(pid, &attachment->identity, &lines) &&
	       target_may_have(&attachment->target, pid);
}

pid_t attach_process(const struct attachment *attachment)
{
	uint32_t pid = attachment->target.geometry.owner;

	if (can_be_sampled(attachment, pid))
		return (pid_t)pid;
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		pid = session_process(attachment->session.shared, n);
		if (can_be_sampled(attachment, pid))
			return (pid_t)pid;
	}
	return 0;
}

bool attach_wait(struct attachment *attachment, int ms)
{
	struct pollfd wait[] = { { .fd = attachment->signals, .events = POLLIN },
				 { .fd = attachment->processes.ends, .events = POLLIN } };
	const uint64_t time = clock_ns(CLOCK_MONOTONIC);
	const uint64_t left = time < attachment->until ? (attachment->until - time) / 1000000 + 1 : 0;

	poll(wait, 2, left < (uint64_t)ms ? (int)left : ms);
	attachment->interrupted |= wait[0].revents != 0;
	if (wait[1].revents)
		process_ends_look(&attachment->processes, attachment->session.shared);
	search_processes(attachment);
	enable_lease_refresh(&attachment->lease);
	attachment->truncated = cmd_target_was_truncated(&attachment->session);
	return !attachment->truncated && !attachment->ended && !attachment->interrupted &&
	       clock_ns(CLOCK_MONOTONIC) < attachment->until;
}

int attach_restore(struct attachment *attachment)
{
	const int error = enable_lease_end(&attachment->lease);

	if (!error || attachment->ended)
		return 0;
	return cmd_failed("%s: cannot switch events off again: %s; use burin disable", attachment->word,
			  kernel_device_explain(error));
}

const char *attach_result(const struct attachment *attachment)
{
	if (attachment->truncated)
		return "unknown";
	if (!attachment->ended)
		return "running";
	if (attachment->processes.any)
		return attachment->processes.killed ? "killed" : "exit";
	return session_was_killed(attachment->session.shared) ? "killed" : "exit";
}

int attach_end(struct attachment *attachment, int result)
{
	if (attachment->session.base)
		result = cmd_target_leave(attachment->target.path, &attachment->session, result);
	if (attachment->file >= 0)
		close(attachment->file);
	if (attachment->signals >= 0)
		close(attachment->signals);
	process_ends_end(&attachment->processes);
	return result;
}

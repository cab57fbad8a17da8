/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Following a running program; see attach.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/attach.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"
#include "session/clock.h"
#include "session/directory.h"

enum {
	/* From one look at the processes to the next while the owner lives: it may execute a program without
	 * tracepoints. */
	ATTACH_LOOK_NS = 1000000000,
	/* How long nobody uses a session that has ended: who has been forked, or executes another program, may
	 * be about to enter. */
	ATTACH_GRACE_NS = 50000000,
};

/* Whether there is anything to follow. */
static int refuse(const char *name, const char *word, const struct target *target)
{
	if (target->header.geometry.owner_kind == WIRE_OWNER_RECORDER)
		return cmd_failed(name, "%s: its recorder (process %u) owns the records; use burin snapshot",
				  word, target->header.geometry.owner);
	if (target->state == TARGET_ENDED || target->state == TARGET_DIED)
		return cmd_failed(name, "%s: it runs no more; burin snapshot writes what it left behind",
				  word);
	return 0;
}

int attach_begin(struct attachment *attachment, const char *name, const char *word)
{
	struct target *target = &attachment->target;
	int result;

	*attachment = (struct attachment){
		.name = name, .word = word, .file = -1, .signals = -1, .owner = -1, .until = UINT64_MAX
	};
	result = cmd_target_open(name, word, target, &attachment->session);
	if (result)
		return result;
	result = refuse(name, word, target) ? CMD_USAGE : 0;
	attachment->owner = (int)syscall(SYS_pidfd_open, target->header.geometry.owner, 0);
	attachment->file = result ? -1 : open(target->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (!result && (attachment->file < 0 || fstat(attachment->file, &attachment->identity) != 0))
		result = cmd_failed(name, "%s: %s", target->path, strerror(errno));
	if (!result)
		attachment->signals = recording_signals(0, NULL);
	if (!result && attachment->signals < 0)
		result = cmd_failed(name, "signals: %s", strerror(errno));
	if (result)
		attach_end(attachment);
	return result;
}

int attach_switch(struct attachment *attachment, const char *const *globs, bool quiet)
{
	static const char *const all[] = { "*", NULL };
	struct session *session = &attachment->session;
	unsigned on = borrow_lasting(session, attachment->file), matched;
	char count[TEXT_SHORT];
	int error;

	if (!*globs && on) {
		if (!quiet)
			fprintf(stderr,
				"burin: %s event%s on already; what is on is recorded as it is (-e: "
				"others)\n",
				text_count(count, on), on == 1 ? " is" : "s are");
		return 0;
	}
	error = borrow_begin(&attachment->borrow, session, attachment->file, *globs ? globs : all, &matched);
	if (error)
		return cmd_failed(attachment->name, "%s: events cannot be switched on: %s", attachment->word,
				  strerror(-error));
	if (!matched && !quiet)
		fprintf(stderr, "burin: no event matches yet; those that come later are switched on\n");
	if (session->shared->stopped && !quiet)
		fprintf(stderr, "burin: %s is stopped; nothing comes before: burin go %s\n", attachment->word,
			attachment->word);
	return 0;
}

void attach_limit(struct attachment *attachment, uint64_t duration)
{
	attachment->until = duration ? clock_ns(CLOCK_MONOTONIC) + duration : UINT64_MAX;
}

/* Processes die unreaped, and go on under another program: what counts is who maps the session. Return: 0: nobody. */
static pid_t find_user(const struct attachment *attachment)
{
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		uint32_t pid = session_process(attachment->session.shared, n);

		if (pid && directory_maps(pid, &attachment->identity))
			return (pid_t)pid;
	}
	return 0;
}

pid_t attach_process(const struct attachment *attachment)
{
	const uint32_t owner = attachment->target.header.geometry.owner;

	return directory_maps(owner, &attachment->identity) ? (pid_t)owner : find_user(attachment);
}

static void look_at_processes(struct attachment *attachment)
{
	const uint64_t time = clock_ns(CLOCK_MONOTONIC);

	if (attachment->owner >= 0 && time - attachment->looked < ATTACH_LOOK_NS)
		return;
	attachment->looked = time;
	if (find_user(attachment))
		attachment->unused = 0;
	else if (!attachment->unused)
		attachment->unused = time;
	attachment->ended = attachment->unused && time - attachment->unused >= ATTACH_GRACE_NS;
}

bool attach_wait(struct attachment *attachment, int ms)
{
	struct pollfd wait[] = { { .fd = attachment->signals, .events = POLLIN },
				 { .fd = attachment->owner, .events = POLLIN } };
	const uint64_t time = clock_ns(CLOCK_MONOTONIC);
	const uint64_t left = time < attachment->until ? (attachment->until - time) / 1000000 + 1 : 0;

	poll(wait, 2, left < (uint64_t)ms ? (int)left : ms);
	attachment->interrupted |= wait[0].revents != 0;
	if (wait[1].revents) {
		close(attachment->owner);
		attachment->owner = -1;
	}
	look_at_processes(attachment);
	borrow_refresh(&attachment->borrow);
	return !attachment->ended && !attachment->interrupted &&
	       clock_ns(CLOCK_MONOTONIC) < attachment->until;
}

void attach_restore(struct attachment *attachment)
{
	if (borrow_end(&attachment->borrow) != 0 && !attachment->ended)
		cmd_failed(attachment->name, "%s: events cannot be switched off again; see burin disable",
			   attachment->word);
}

const char *attach_result(const struct attachment *attachment)
{
	struct stat status;

	if (!attachment->ended)
		return "running";
	if (!session_was_killed(attachment->session.shared))
		return "exit";
	/* Who leaves last takes the session along, whatever became of others before. */
	return attachment->session.shared->ended && fstat(attachment->file, &status) == 0 &&
			       status.st_nlink == 0
		       ? "exit"
		       : "killed";
}

uint64_t attach_ago(const struct attachment *attachment)
{
	return attachment->ended ? clock_ns(CLOCK_MONOTONIC) - attachment->unused : 0;
}

void attach_end(struct attachment *attachment)
{
	if (attachment->session.base)
		session_leave(&attachment->session);
	if (attachment->file >= 0)
		close(attachment->file);
	if (attachment->signals >= 0)
		close(attachment->signals);
	if (attachment->owner >= 0)
		close(attachment->owner);
}

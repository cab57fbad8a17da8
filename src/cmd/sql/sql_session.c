/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Snapshots for queries; see sql_session.h.
 *
 * The directory is in $TMPDIR or /tmp, has a random name, and no other user may enter it. A user whose directory that is, or who has
 * renamed it, cannot change what is read, removed or written: all of that goes by the descriptor.
 *
 * A child process, the cleaner, makes the directory, waits for the end of this process and removes it. So a kill leaves nothing behind.
 */
#include "cmd/sql/sql_session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/record/recorder/target_snapshot.h"
#include "cmd/target_argument.h"
#include "file/descriptor.h"
#include "writer/chunks.h"

bool sql_session_is(const char *word)
{
	struct target_list list;
	struct stat is;
	const char *why;
	bool found;

	if (strchr(word, '/'))
		return !stat(word, &is) && S_ISREG(is.st_mode);
	found = !target_list_matching(&list, word, &why) && list.count;
	target_list_free(&list);
	return found;
}

/* Return: the directory; -1 after a message. */
static int directory_make(char path[PATH_MAX])
{
	const char *place = getenv("TMPDIR");
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		cmd_failed("no random number: %s", strerror(errno));
		return -1;
	}
	snprintf(path, PATH_MAX, "%s/burin-sql-%016" PRIx64, place && *place ? place : "/tmp", number);
	return recording_create("TMPDIR", path, true);
}

/* The cleaner. It takes no signal of a terminal, and keeps neither that nor a pipe of output open. */
static void __attribute__((noreturn)) cleaner_run(int socket)
{
	char path[PATH_MAX], byte;
	sigset_t all;
	int directory, null;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	directory = directory_make(path);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int file = 0; file < 3 && null >= 0; file++)
		dup2(null, file);
	descriptor_send(socket, directory < 0 ? -ECANCELED : directory);
	while (read(socket, &byte, 1) < 0 && errno == EINTR) {
	}
	if (directory >= 0)
		chunks_discard(directory, path);
	_exit(0);
}

/* Return: 0 or CMD_FAULTS after a message. */
static int cleaner_start(struct sql_session *session, const char *word)
{
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return cmd_failed("%s: %s", word, strerror(errno));
	session->cleaner = fork();
	if (!session->cleaner) {
		close(ends[1]);
		cleaner_run(ends[0]);
	}
	error = session->cleaner < 0 ? errno : 0;
	close(ends[0]);
	session->alive = ends[1];
	session->directory = error ? -1 : descriptor_receive(ends[1]);
	if (session->directory >= 0)
		return 0;
	if (error || session->directory != -ECANCELED)
		cmd_failed("%s: %s", word, strerror(error ? error : -session->directory));
	sql_session_drop(session);
	return CMD_FAULTS;
}

/* Return: 0 or CMD_FAULTS after a message. */
static int records_write(struct sql_session *session, struct session *from, const struct target *target,
			 const char *word)
{
	struct drain_options options = { 0 };
	struct drain_totals totals;
	const int copy = fcntl(session->directory, F_DUPFD_CLOEXEC, 0);

	if (copy < 0)
		return cmd_failed("%s: %s", word, strerror(errno));
	return target_snapshot(from, target, copy, word, &options, &totals);
}

int sql_session_take(struct sql_session *session, const char *word)
{
	struct session from;
	struct target target;
	int result = cmd_target_look(word, &target, &from);

	if (result)
		return result;
	result = cleaner_start(session, word);
	if (!result) {
		result = records_write(session, &from, &target, word);
		if (result)
			sql_session_drop(session);
	}
	return cmd_target_leave(target.path, &from, result);
}

void sql_session_drop(struct sql_session *session)
{
	if (!session->cleaner)
		return;
	if (session->directory >= 0)
		close(session->directory);
	close(session->alive);
	while (session->cleaner > 0 && waitpid(session->cleaner, NULL, 0) < 0 && errno == EINTR) {
	}
	session->cleaner = 0;
}

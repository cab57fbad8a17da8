/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A session as a trace for a while: what is in its memory now is written to a directory of our own, which is gone when this process ends,
 * however it ends. The session is only read.
 */
#ifndef BURIN_CMD_SQL_SQL_SESSION_H
#define BURIN_CMD_SQL_SQL_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

struct sql_session {
	int directory; /* of the trace */
	int alive;     /* a socket: the cleaner removes the directory when no other process has its end */
	pid_t cleaner; /* 0: there is no session */
};

/* sql_session_is - whether a word is a session: a pid, the name of a program, `kernel`, or a path of a regular file. */
bool sql_session_is(const char *word);

/* sql_session_take - write the session's records. Print errors. Return: 0 or the exit code. Call sql_session_drop() in any case. */
int sql_session_take(struct sql_session *session, const char *word);

/* sql_session_drop - remove the directory, and wait until it is gone. Of several, the last one that was taken goes first. */
void sql_session_drop(struct sql_session *session);

#endif

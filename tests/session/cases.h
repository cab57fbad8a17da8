/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Cases that need a session. Each runs in a process of its own: the test makes a session, names it in the
 * environment and executes itself anew, so that the case's process has joined it as any traced program does,
 * before main(). A case that crashes or hangs has failed.
 */
#ifndef BURIN_TESTS_SESSION_CASES_H
#define BURIN_TESTS_SESSION_CASES_H

#include "harness.h"
#include "session/session.h"

struct session_case {
	const char *name;
	/* Return: what went wrong, or NULL. It may use harness_skip() and return CASE_SAID. */
	const char *(*run)(void);
	struct session_options options;
	unsigned cpus;	      /* of the session, if not as many as there are */
	const char *tunables; /* GLIBC_TUNABLES */
	unsigned seconds;     /* after which it hangs; 0: 600 */
	bool only_long;
};

#define CASE_SAID ((const char *)1)

/* The glibc that does not register rseq. */
#define CASE_NO_RSEQ "glibc.pthread.rseq=0"

/* cases_main - run all, or be one. To be returned from main(). */
int cases_main(int argc, char **argv, const struct session_case *cases, unsigned count);

/* The name of this case. */
const char *cases_name(void);

/* The path of the session that this process has joined. */
const char *cases_session(void);

/* cases_random - the case's source of randomness. */
struct random *cases_random(void);

/*
 * cases_exec - execute this program anew, as `name` (TEST_ROLE), by the emulator that TEST_EMULATOR names if
 * there is one. Return: only if that cannot be done.
 */
void cases_exec(const char *name);

/* cases_why - format an answer for a case to return. */
__attribute__((format(printf, 1, 2))) const char *cases_why(const char *format, ...);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The process as a whole: which session it traces into, what a fork does to that, and how it leaves. */
#ifndef BURIN_SOURCE_USER_PROCESS_H
#define BURIN_SOURCE_USER_PROCESS_H

/*
 * process_begin - get into a session, once: the one that the environment names, else one of the program's own.
 * Context: under objects_lock(), before the first event is registered. If there is none, the program runs
 * untraced, and says so only if somebody asked for a trace.
 */
void process_begin(void);

/* process_complain - say that this program was asked to trace and cannot. Besides, only faulty settings are told. */
void process_complain(const char *what, const char *why, int error);

/* process_session_path - the name of the process's session; "" if there is none. Context: any. */
const char *process_session_path(void);

#endif

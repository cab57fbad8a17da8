/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The process and its session: joining, fork, and exit. */
#ifndef BURIN_SOURCE_TRACEPOINT_PROCESS_H
#define BURIN_SOURCE_TRACEPOINT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * process_begin - join the session in BURIN_SESSION, or make one; only the first call does anything.
 * Context: under site_registry_lock(), before the first event is registered. Without a session the program runs
 * untraced; it reports this only if BURIN_SESSION or a setting asked for a trace.
 */
void process_begin(void);

/* process_report_untraced - report that this program was asked to record and cannot. */
void process_report_untraced(const char *what, const char *why, int error);

/* process_report_refused - report that an event is not recorded. @count: refused events, this one included */
void process_report_refused(const char *name, const char *file, uint32_t line, const char *why,
			    unsigned count);

/* process_report_clock - report, once, that the thread will not record, if records are asked for. @recorded: it has recorded before */
void process_report_clock(bool recorded);

/* process_report_shared - report, once, that the thread's calls will not be recorded, if calls are asked for: interpose_clone.c */
void process_report_shared(void);

/* process_session_path - the path of the process's session; "" if there is none. Context: any. */
const char *process_session_path(void);

#endif

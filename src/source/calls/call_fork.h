/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The open calls of threads that end, and of processes that fork. */
#ifndef BURIN_SOURCE_CALLS_CALL_FORK_H
#define BURIN_SOURCE_CALLS_CALL_FORK_H

/* call_fork_begin - watch threads and forks. Context: before there are threads. */
void call_fork_begin(void);

#endif

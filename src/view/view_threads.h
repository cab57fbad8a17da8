/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Threads that read a trace: how many, and that no handler of the program's signals runs in them. */
#ifndef BURIN_VIEW_VIEW_THREADS_H
#define BURIN_VIEW_VIEW_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* view_threads - how many may run at once, at least 1. */
unsigned view_threads(void);

/* view_thread_start - begin a thread, with all signals blocked that no fault of its own raises. Return: whether it runs. */
bool view_thread_start(pthread_t *thread, void *(*run)(void *), void *data);

#endif

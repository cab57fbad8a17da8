/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Make a trace of calls from a data directory that uftrace has recorded, versions 3 and 4 of its files. */
#ifndef BURIN_IMPORT_UFTRACE_IMPORT_H
#define BURIN_IMPORT_UFTRACE_IMPORT_H

#include "import/uftrace_task.h"

struct uftrace_import {
	uint64_t calls, open, tasks;
	struct uftrace_left left;
	bool kernel;	    /* it has functions of the kernel, which are not carried over */
	const char *why;    /* of a refusal: a constant; NULL: the errno is enough */
	const char *file;   /* which it, or the errno, is about; NULL: none */
	char task_file[16]; /* "4294967295.dat" */
};

/*
 * uftrace_import - write the trace.
 * @from: the data directory; @directory: of the trace, empty; both are the caller's
 *
 * Context: the files in @from are not trusted.
 * Return: 0; -EINVAL: it is not a data directory that can be read, and ->why; -ENODATA: no calls; -errno.
 */
int uftrace_import(int from, int directory, struct uftrace_import *result);

#endif

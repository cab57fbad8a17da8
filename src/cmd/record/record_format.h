/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin record --format uftrace. The calls are recorded into a trace beside the directory for uftrace, and are converted
 * when the program has ended. Then the trace is removed; if that conversion fails, it stays.
 */
#ifndef BURIN_CMD_RECORD_RECORD_FORMAT_H
#define BURIN_CMD_RECORD_RECORD_FORMAT_H

#include "cmd/record/cmd_record.h"

struct record_format_output {
	enum record_format format;
	int directory;	   /* for uftrace; -1: none */
	char output[4096]; /* its path */
};

/*
 * record_format_begin - choose the path of the trace, and make the directory for uftrace; print an error.
 * @trace: receives the path; @bytes: its size
 * Return: false: the directory could not be made.
 */
bool record_format_begin(struct record_format_output *output, const struct record_options *options,
			 char *trace, size_t bytes);

/* record_format_discard - nothing was recorded: remove the directory. */
void record_format_discard(struct record_format_output *output);

/*
 * record_format_finish - convert the finished trace, and remove it.
 * @trace: its path; @directory: the trace, which stays open
 * Return: 0; CMD_FAULTS or CMD_USAGE after a message: the trace stays.
 */
int record_format_finish(struct record_format_output *output, const char *trace, int directory, bool quiet);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checks a trace. It is opened in strict mode, so opening also reports faults that do not hinder reading. Then come
 * the tables, every record of every stream, the samples and the calls.
 */
#include "base/options.h"
#include "read/check/check_parts.h"

#include <errno.h>
#include <stdio.h>

/* Checks one directory. Return: 0 or -ENOMEM. */
static int check_trace_check_directory(const struct burin_trace *trace, struct burin_check_result *result)
{
	bool unfinished = false;
	int error = 0;

	read_check_tables(trace, &unfinished);
	for (unsigned n = 0; n < trace->stream_count && !error; n++)
		error = read_check_stream(trace, &trace->streams[n], unfinished, result);
	if (!error)
		error = read_check_stream(trace, (struct read_stream *)&trace->names_stream, unfinished,
					  result);
	if (!error)
		error = read_check_stream(trace, (struct read_stream *)&trace->changes_stream, unfinished,
					  result);
	if (!error)
		error = read_check_profile(trace);
	if (!error)
		error = read_check_calls(trace);
	result->unfinished |= unfinished;
	return error;
}

/* The chunk that is being checked. */
struct check_chunk {
	const struct burin_trace *whole;
	unsigned chunk;
};

/* Opening the whole has reported some of a chunk's faults already: they count once. */
static void on_chunk_fault(void *data, const struct burin_diagnosis *fault)
{
	const struct check_chunk *check = data;
	char file[sizeof(fault->file) + READ_CHUNK_NAME_MAX];

	snprintf(file, sizeof(file), "%s/%s", check->whole->chunks[check->chunk].name, fault->file);
	read_fault(check->whole, fault->code, file, fault->offset, "%s", fault->reason);
}

/* Each chunk is a trace. Opening all of them as one has found what is missing between them. */
static int check_chunks(const struct burin_trace *whole, struct burin_check_result *result)
{
	int error = 0;

	for (unsigned n = 0; n < whole->chunk_count && !error; n++) {
		struct check_chunk check = { whole, n };
		const struct burin_open_options open = { sizeof(open), on_chunk_fault, &check,
							 whole->memory_max };
		struct burin_trace *trace;
		struct burin_diagnosis why;

		error = read_chunk_open(&trace, whole, n, &open, &why);
		if (error && error != -ENOMEM) {
			read_fault(whole, BURIN_FAULT_FILE, whole->chunks[n].name, 0, "%s", why.reason);
			error = 0;
			continue;
		}
		if (!error)
			error = check_trace_check_directory(trace, result);
		burin_trace_close(trace);
	}
	return error;
}

int burin_trace_check(const char *path, const struct burin_check_options *given,
		      struct burin_check_result *result, struct burin_diagnosis *why)
{
	struct burin_open_options open = { .size = sizeof(open) };
	struct burin_check_options options;
	struct burin_trace *trace;
	int error;

	*result = (struct burin_check_result){ .faults = 0 };
	if (options_take(&options, sizeof(options), given) != 0) {
		read_diagnose(why, -EINVAL, "", 0,
			      "the caller sets an option that this version of the library does not have");
		return -EINVAL;
	}
	open.on_fault = options.on_fault;
	open.data = options.data;
	open.memory = options.memory;
	error = read_trace_open(&trace, path, &open, true, why);
	if (error)
		return error;
	error = burin_trace_chunks(trace) ? check_chunks(trace, result)
					  : check_trace_check_directory(trace, result);
	result->faults = burin_trace_faults(trace);
	if (error)
		read_diagnose(why, error, "", 0, "%s", burin_fault_name(error));
	burin_trace_close(trace);
	return error;
}

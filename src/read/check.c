/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checking a trace: opened strictly, so that opening reports also what does not hinder reading; then the
 * tables; then every record of every stream; then the samples.
 */
#include "read/check.h"

#include <errno.h>

int burin_trace_check(const char *path, const struct burin_check_options *options,
		      struct burin_check_result *result, struct burin_diagnosis *why)
{
	struct burin_open_options open = { .size = sizeof(open) };
	struct burin_trace *trace;
	bool unfinished = false;
	int error;

	*result = (struct burin_check_result){ .faults = 0 };
	if (options && options->size != sizeof(*options)) {
		read_diagnose(why, -EINVAL, "", 0, "the caller was built for another version of the library");
		return -EINVAL;
	}
	if (options) {
		open.on_fault = options->on_fault;
		open.data = options->data;
	}
	error = read_trace_open(&trace, path, &open, true, why);
	if (error)
		return error;
	read_check_tables(trace, &unfinished);
	for (unsigned n = 0; n < trace->stream_count && !error; n++)
		error = read_check_stream(trace, &trace->streams[n], unfinished, result);
	if (!error)
		error = read_check_stream(trace, &trace->names_stream, unfinished, result);
	if (!error)
		error = read_check_profile(trace);
	result->unfinished = unfinished;
	result->faults = burin_trace_faults(trace);
	if (error)
		read_diagnose(why, error, "", 0, "%s", burin_fault_name(error));
	burin_trace_close(trace);
	return error;
}

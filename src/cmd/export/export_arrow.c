/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin export arrow; see export_arrow.h. */
#include "cmd/export/export_arrow.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrow/arrow_ipc.h"
#include "arrow/arrow_stream.h"
#include "cmd/cmd.h"
#include "cmd/report/open_profile.h"
#include "cmd/selection_options.h"
#include "query/query.h"

enum {
	KEPT_MAX = 32 << 20, /* bytes: as many as the C library permits for one piece */
};

static struct query_table *find_table(struct query *query, const char *name)
{
	for (unsigned n = 0; n < query->count; n++)
		if (!strcasecmp(query->tables[n].name, name))
			return &query->tables[n];
	return NULL;
}

/* Times on the command line are ticks here; those of rows are nanoseconds, rounded down. Return: 0 or CMD_USAGE. */
static int export_arrow_bounds(const struct burin_trace *trace, const struct query_table *table,
			       struct query_bounds *bounds)
{
	uint64_t from = 0, to = 0;
	char name[QUERY_NAME];
	int result;

	if (!cmd_times_given())
		return 0;
	query_column(table, 0, name);
	if (strcmp(name, "time") != 0)
		return cmd_usage("the rows of the table %s have no time; leave --from and --to out",
				 table->name);
	result = cmd_times(trace, &from, &to);
	if (from)
		bounds->from = burin_trace_ns(trace, from);
	if (to)
		bounds->to = burin_trace_ns(trace, to) - 1;
	return result;
}

/* Return: the exit code. */
static int export_arrow_file(struct query *query, struct query_table *table,
			     const struct query_bounds *bounds, bool whole, int file, const char *output)
{
	struct stat made = { .st_ino = 0 };
	struct ArrowArrayStream stream;
	int error = arrow_stream_open(&stream, query, table, bounds);

	fstat(file, &made);
	if (!error) {
		error = arrow_ipc_write(&stream, file, whole);
		stream.release(&stream);
	}
	if (close(file) && !error)
		error = -errno;
	return cmd_profile_ended(error, output, &made);
}

static int export_arrow_table(const struct cmd_profile *profile, const char *name, bool whole,
			      const char *output)
{
	struct query_bounds bounds = query_all();
	struct query_table *table;
	struct query query;
	int file, result = cmd_written(query_make(&query, profile->trace, cmd_threads()));

	table = result ? NULL : find_table(&query, name);
	if (!result && !table)
		result = cmd_usage("the trace has no table %s; 'echo .tables | burin sql DIR' lists them",
				   name);
	if (!result)
		result = export_arrow_bounds(profile->trace, table, &bounds);
	if (!result) {
		file = cmd_profile_create(profile, output);
		result = file < 0 ? CMD_FAULTS
				  : export_arrow_file(&query, table, &bounds, whole, file, output);
	}
	query_free(&query);
	return result;
}

/* A batch gets the memory of the one before. Otherwise it is returned to the kernel, which clears each page again: most of the time of an export. */
static void export_arrow_keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, KEPT_MAX);
	mallopt(M_TRIM_THRESHOLD, KEPT_MAX);
}

int export_arrow(const char *path, const char *table, bool whole, const char *output)
{
	struct cmd_profile profile = { .faults.show_max = 10 };
	struct cmd_faults *faults = &profile.faults;
	int directory, result;

	if ((!output || !strcmp(output, "-")) && isatty(STDOUT_FILENO))
		return cmd_usage("arrow is a binary format; give -o FILE");
	export_arrow_keep_memory();
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	profile.private = directory >= 0 && cmd_profile_is_private(directory);
	if (directory >= 0)
		close(directory);
	result = cmd_open(&profile.trace, path, faults);
	if (result)
		return result;
	result = export_arrow_table(&profile, table ? table : "events", whole, output);
	cmd_losses_foot(profile.trace, faults, path);
	burin_trace_close(profile.trace);
	return !result && faults->count ? CMD_FAULTS : result;
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of functions in `burin record`; see calls.h. */
#include <fcntl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/calls.h"
#include "cmd/record/cmd_symbols.h"
#include "file/create.h"
#include "session/clock.h"

static const char library_name[] = "libburin-calls.so";

bool calls_begin(struct calls *calls, const struct calls_options *options, struct session *session)
{
	int error;

	*calls = (struct calls){ .options = options };
	if (!options->on)
		return true;
	session->calls.header->sources = (options->libraries ? WIRE_CALL_LIBRARIES : 0) |
					 (options->nested ? WIRE_CALL_NESTED : 0) |
					 (options->no_hooks ? WIRE_CALL_NO_HOOKS : 0);
	error = preload_find(library_name, calls->library, sizeof(calls->library));
	if (error)
		cmd_failed("--calls: %s %s", library_name, preload_problem(error));
	return !error;
}

const char *calls_library(const struct calls *calls)
{
	return calls->library;
}

static void find_symbols(const struct calls *calls, int directory, const char *path, bool quiet,
			 uint64_t until)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (faccessat(directory, ".burin/calls.functions", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	cmd_symbols_find(directory, path,
			 &(struct cmd_symbols_options){ .quiet = true,
							.calls = true,
							.deadline_ns = !calls->options->names_ns ? 0
								       : until > now		 ? until - now
												 : 1,
							.progress = !quiet,
							.servers = true });
}

void calls_symbols(const struct calls *calls, int directory, const char *path, bool quiet,
		   const struct drain_totals *totals)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + calls->options->names_ns; /* for all chunks */

	if (!calls->options->on || calls->options->no_symbols)
		return;
	if (!totals->chunks)
		find_symbols(calls, directory, path, quiet, until);
	for (unsigned n = totals->trim.done + 1; n <= totals->chunks; n++) {
		char chunk_name[CHUNKS_NAME], chunk_path[CHUNKS_PATH];
		int chunk;

		chunks_name(n, chunk_name);
		chunks_path(path, n, chunk_path);
		chunk = create_enter(directory, chunk_name);
		if (chunk < 0)
			continue;
		find_symbols(calls, chunk, chunk_path, quiet, until);
		close(chunk);
	}
}

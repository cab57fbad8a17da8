/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Snapshots of a recording; see snapshots.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/recording.h"
#include "cmd/record/snapshots.h"
#include "drain/drain.h"

static const char suffix[] = ".burin";

/* The first of OUTPUT-1, OUTPUT-2, ... that does not exist; of NAME.burin: NAME-1.burin, ... */
static void choose(struct snapshots *snapshots, char *path, size_t bytes)
{
	const size_t length = strlen(snapshots->output), rest = sizeof(suffix) - 1;
	const bool named = length > rest && strcmp(snapshots->output + length - rest, suffix) == 0;

	do
		snprintf(path, bytes, "%.*s-%u%s", (int)(length - (named ? rest : 0)), snapshots->output,
			 ++snapshots->number, named ? suffix : "");
	while (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

static void write_one(struct snapshots *snapshots, struct session *session)
{
	const struct drain_options options = { .more = kernel_events_snapshot(snapshots->kernel) };
	struct drain_totals totals;
	char path[4096 + 32];
	int directory;

	choose(snapshots, path, sizeof(path));
	directory = recording_create("-o", path, snapshots->private);
	if (directory < 0 || recording_snapshot(session, NULL, directory, path, &options, &totals))
		snapshots->failed = true;
	else if (!snapshots->quiet)
		recording_summary(&totals, path, true, NULL);
}

void snapshots_write(struct snapshots *snapshots, struct session *session)
{
	struct wire_calls *calls = session->calls.header;
	const uint32_t wanted = calls ? __atomic_load_n(&calls->snapshots_wanted, __ATOMIC_ACQUIRE) : 0;
	const bool guest = wanted && !snapshots->for_guest;

	if (session->geometry.mode != WIRE_MODE_FLIGHT || (!snapshots->asked && !guest))
		return;
	snapshots->asked = 0;
	write_one(snapshots, session);
	if (!guest)
		return;
	snapshots->for_guest = true;
	__atomic_store_n(&calls->snapshots_written, wanted, __ATOMIC_RELEASE); /* it waits for this */
}

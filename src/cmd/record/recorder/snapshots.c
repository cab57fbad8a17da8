/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Snapshots of a recording; see snapshots.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/record/recorder/snapshots.h"
#include "drain/drain.h"

static const char suffix[] = ".burin";

/* The first of OUTPUT-1, OUTPUT-2, ... that does not exist; of NAME.burin: NAME-1.burin, ... */
static void snapshots_choose_path(struct snapshots *snapshots, const char *output, char *path, size_t bytes)
{
	const size_t length = strlen(output), rest = sizeof(suffix) - 1;
	const bool named = length > rest && strcmp(output + length - rest, suffix) == 0;

	do
		snprintf(path, bytes, "%.*s-%u%s", (int)(length - (named ? rest : 0)), output,
			 ++snapshots->number, named ? suffix : "");
	while (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

static void write_one(struct snapshots *snapshots, const struct recorder *recorder)
{
	const struct drain_options options = { .more = recorder_snapshot_rings(recorder) };
	struct drain_totals totals;
	char path[4096 + 32];
	int directory;

	snapshots_choose_path(snapshots, recorder->output, path, sizeof(path));
	directory = recording_create("-o", path, recorder->private);
	if (directory < 0 || recording_snapshot(recorder->session, NULL, directory, path, &options, &totals))
		snapshots->failed = true;
	else if (!recorder->quiet)
		recording_summary(&totals, path);
}

void snapshots_write(struct snapshots *snapshots, const struct recorder *recorder)
{
	const struct session *session = recorder->session;
	struct wire_calls *calls = session->calls.header;
	const uint32_t wanted = calls ? __atomic_load_n(&calls->snapshots_wanted, __ATOMIC_ACQUIRE) : 0;
	const bool guest = wanted && !snapshots->for_guest;

	if (session->geometry.mode != WIRE_MODE_FLIGHT || (!snapshots->asked && !guest))
		return;
	snapshots->asked = 0;
	write_one(snapshots, recorder);
	if (!guest)
		return;
	snapshots->for_guest = true;
	__atomic_store_n(&calls->snapshots_written, wanted, __ATOMIC_RELEASE); /* it waits for this */
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A session that others scribble upon, as ls, events and snapshot look at it. An input is a list of stores into a sound
 * session: where (u32), how many bytes (u8), the bytes.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burin/read.h"
#include "control/call_listing.h"
#include "control/listing.h"
#include "control/target.h"
#include "drain/drain.h"
#include "fuzz.h"
#include "session/calls/call_known.h"
#include "sound_session.h"

enum {
	STORES_MAX = 64,
};

static struct session *sound;
static char session_path[300], trace_path[300];

/* The session's file, with the input's stores. */
static void scribble(struct fuzz_input input)
{
	const int file = sound_session_file(session_path);
	const uint64_t bytes = sound->geometry.file_bytes;

	for (unsigned n = 0; n < STORES_MAX && input.left; n++) {
		const uint64_t at = fuzz_take(&input, 4) % bytes;
		size_t count = (size_t)fuzz_take(&input, 1);

		count = count < input.left ? count : input.left;
		count = count < bytes - at ? count : bytes - at;
		FUZZ_HOLDS(pwrite(file, input.at, count, (off_t)at) == (ssize_t)count);
		input.at += count;
		input.left -= count;
	}
	close(file);
}

static void list(struct session *session)
{
	struct listing listing;
	size_t sum = 0;

	if (listing_read(&listing, session))
		return;
	for (unsigned n = 0; n < listing.count; n++)
		sum += strlen(listing.events[n].name) + strlen(listing.events[n].format) +
		       strlen(listing.events[n].file) + strlen(listing.events[n].refused_file) +
		       strlen(listing.events[n].where);
	listing_free(&listing);
	fuzz_use(sum);
}

static size_t known_bytes(struct call_known known)
{
	return strlen(known.spec ?: "") + strlen(known.file ?: "");
}

static void list_calls(struct session *session)
{
	struct call_listing listing;
	size_t sum = 0;

	if (!session->calls.header || call_listing_read(&listing, session))
		return;
	for (size_t n = 0; n < listing.count; n++)
		sum += strlen(call_listing_image(&listing, &listing.functions[n])) +
		       listing.functions[n].count +
		       known_bytes(call_known_find(session, listing.functions[n].image,
						   listing.functions[n].offset));
	call_listing_free(&listing);
	fuzz_use(sum);
}

/* But names that were erased are gone, and nothing is left that says that they were there. */
static void on_fault(void *data, const struct burin_diagnosis *fault)
{
	(void)data;
	if (fault->code == BURIN_FAULT_FILE && strcmp(fault->file, "names") == 0)
		return;
	fprintf(stderr, "%s: byte %llu: %s\n", fault->file, (unsigned long long)fault->offset, fault->reason);
	FUZZ_HOLDS(!"a trace that check finds sound");
}

static void snapshot(struct session *session)
{
	const struct burin_check_options check = { .size = sizeof(check), .on_fault = on_fault };
	struct drain_options options = { 0 };
	struct burin_check_result result;
	struct burin_diagnosis why;
	struct drain_totals totals;
	int directory, error;

	FUZZ_HOLDS(mkdir(trace_path, 0700) == 0);
	directory = open(trace_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(directory >= 0);
	error = drain_snapshot(session, directory, &options, &totals);
	close(directory);

	/* Whatever a session holds, the trace of it is sound: what no writer can have written is not in it. */
	if (!error)
		FUZZ_HOLDS(burin_trace_check(trace_path, &check, &result, &why) == 0);
	archive_remove(trace_path);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	uint64_t state = seed;
	uint64_t at, value = fuzz_random(&state);
	uint32_t where;

	if (fuzz_random(&state) % 3 || size + 13 > max)
		return LLVMFuzzerMutate(data, size, max);
	/* one store more, where a number stands */
	at = sound_session_place(fuzz_random(&state));
	at += fuzz_random(&state) % 2 ? fuzz_random(&state) % 64 * 4
				      : fuzz_random(&state) % SOUND_PACKET & ~UINT64_C(3);
	where = (uint32_t)at;
	memcpy(data + size, &where, 4);
	data[size + 4] = (uint8_t)(1 << fuzz_random(&state) % 4);
	if (fuzz_random(&state) % 2)
		value &= 0xff;
	else if (fuzz_random(&state) % 2)
		value = UINT64_MAX >> fuzz_random(&state) % 64;
	memcpy(data + size + 5, &value, data[size + 4]);
	return size + 5 + data[size + 4];
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	sound = sound_session(WIRE_MODE_FLIGHT);
	snprintf(session_path, sizeof(session_path), "%s/session", archive_directory());
	snprintf(trace_path, sizeof(trace_path), "%s/trace", archive_directory());
	return 0;
}

static int map(struct session *session, bool write)
{
	const char *why = "";
	const int file = session_file(AT_FDCWD, session_path, write, &why);
	const int error = file < 0 ? file
			  : write  ? session_open(session, file, &why)
				   : session_look(session, file, &why);

	if (file >= 0)
		close(file);
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target_list targets;
	struct session session;
	const char *why = "";

	scribble((struct fuzz_input){ data, size });
	if (target_list_matching(&targets, session_path, &why) == 0) {
		for (unsigned n = 0; n < targets.count; n++)
			target_describe(&targets.targets[n], true);
	}
	target_list_free(&targets);
	/* For each as the commands do it: of these, a snapshot may not store anything. */
	if (map(&session, false) == 0) {
		list(&session);
		snapshot(&session);
		session_leave(&session);
	}
	if (map(&session, true) == 0) {
		list(&session);
		list_calls(&session);
		session_leave(&session);
	}
	return 0;
}

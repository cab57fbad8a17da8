/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin recover: a trace whose recorder was killed, and the session that it left behind, which others scribbled upon meanwhile. An input
 * is a list of stores: into which file (u8; 0: the session), where (u32), how many bytes (u8), the bytes. A store of no bytes cuts the file
 * there.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burin/read.h"
#include "drain/drain.h"
#include "fuzz.h"
#include "sound_session.h"
#include "writer/sample_streams.h"

enum {
	FILES_MAX = 16,
	STORES_MAX = 64,
	STORE_HEAD = 6,
};

/* A file of the trace, as the killed recorder left it. */
struct left_file {
	char path[64]; /* in the trace */
	char *bytes;
	size_t used, size; /* behind `used` it is zero */
};

static struct left_file files[FILES_MAX];
static unsigned file_count;
static struct session *sound;
static char session_path[300], trace_path[300];

/* ---- the trace that is left ---- */

static int keep_file(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	struct left_file *file = &files[file_count];
	int fd;

	(void)walk;
	if (type != FTW_F)
		return 0;
	FUZZ_HOLDS(file_count < FILES_MAX);
	snprintf(file->path, sizeof(file->path), "%s", path + strlen(trace_path) + 1);
	file->size = file->used = (size_t)status->st_size;
	file->bytes = malloc(file->size + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	FUZZ_HOLDS(file->bytes && fd >= 0 && read(fd, file->bytes, file->size) == (ssize_t)file->size);
	close(fd);
	while (file->used && !file->bytes[file->used - 1])
		file->used--;
	file_count++;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct left_file *)a)->path, ((const struct left_file *)b)->path);
}

/* A recorder writes what is there, and is killed; the program writes more. */
static void make_left(void)
{
	static struct drain drain;
	const struct drain_options options = { .session_path = session_path, .command = "fuzz" };
	unsigned fullest;
	int directory;

	FUZZ_HOLDS(mkdir(trace_path, 0700) == 0);
	directory = open(trace_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(directory >= 0 && drain_begin(&drain, sound, directory, &options) == 0 &&
		   drain_round(&drain, &fullest) == 0);
	close(directory);
	for (unsigned ring = 0; ring < SOUND_RINGS; ring++)
		sound_session_records(ring);
	FUZZ_HOLDS(nftw(trace_path, keep_file, 16, FTW_PHYS) == 0);
	qsort(files, file_count, sizeof(*files), by_path);
	archive_remove(trace_path);
}

/* ---- one input ---- */

static int put_file(int directory, const struct left_file *file)
{
	const int fd = openat(directory, file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	FUZZ_HOLDS(fd >= 0 && write(fd, file->bytes, file->used) == (ssize_t)file->used &&
		   ftruncate(fd, (off_t)file->size) == 0);
	return fd;
}

/* Return: whether the trace is as it was left: only the session has changed. */
static bool scribble(struct fuzz_input input, int directory)
{
	int fds[1 + FILES_MAX] = { sound_session_file(session_path) };
	bool sound_trace = true;

	for (unsigned n = 0; n < file_count; n++)
		fds[1 + n] = put_file(directory, &files[n]);
	for (unsigned n = 0; n < STORES_MAX && input.left; n++) {
		const unsigned number = (unsigned)fuzz_take(&input, 1) % (1 + file_count);
		const uint64_t bytes = number ? files[number - 1].size : sound->geometry.file_bytes;
		const uint64_t at = bytes ? fuzz_take(&input, 4) % bytes : 0;
		size_t count = (size_t)fuzz_take(&input, 1);

		sound_trace &= number == 0;
		if (!count && number)
			FUZZ_HOLDS(ftruncate(fds[number], (off_t)at) == 0);
		count = count < input.left ? count : input.left;
		if (count > bytes - at)
			count = bytes - at;
		FUZZ_HOLDS(pwrite(fds[number], input.at, count, (off_t)at) == (ssize_t)count);
		input.at += count;
		input.left -= count;
	}
	for (unsigned n = 0; n <= file_count; n++)
		close(fds[n]);
	return sound_trace;
}

static void on_fault(void *data, const struct burin_diagnosis *fault)
{
	(void)data;
	fprintf(stderr, "%s: byte %llu: %s\n", fault->file, (unsigned long long)fault->offset, fault->reason);
}

/* As the command does it. Return: 0 or -errno. */
static int recover(struct session *session, int directory)
{
	const struct recording recording = { .state = "recording",
					     .clock = { 1000000000, 0 },
					     .session_path = session_path,
					     .kernel_tasks = "",
					     .command = "fuzz" };
	struct drain_totals totals;
	uint64_t before, lost;
	struct drain drain;
	int error = samples_recover(directory, session->geometry.locked);

	if (!error)
		error = drain_resume(&drain, session, directory, &recording, -1);
	if (error)
		return error;
	drain_so_far(&drain, &before, &lost);
	session_end(session);
	return drain_finish(&drain, "unknown", &totals);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	uint64_t state = seed;
	const unsigned number =
		fuzz_random(&state) % 2 ? 0 : 1 + (unsigned)(fuzz_random(&state) % file_count);
	const size_t count = (size_t)1 << fuzz_random(&state) % 4;
	uint64_t value = fuzz_random(&state);
	uint32_t where;

	if (fuzz_random(&state) % 3 || size + STORE_HEAD + count > max)
		return LLVMFuzzerMutate(data, size, max);
	/* one store more, where a number stands: in a trace, near the beginning of a file, or where it is in use */
	if (number && files[number - 1].used)
		where = (uint32_t)(fuzz_random(&state) %
				   (fuzz_random(&state) % 2 ? 256 : files[number - 1].used));
	else
		where = (uint32_t)(sound_session_place(fuzz_random(&state)) + fuzz_random(&state) % 64 * 4);
	if (fuzz_random(&state) % 2)
		value = fuzz_random(&state) % 2 ? value & 0xff : UINT64_MAX >> fuzz_random(&state) % 64;
	data[size] = (uint8_t)number;
	memcpy(data + size + 1, &where, 4);
	data[size + 5] = number && fuzz_random(&state) % 8 == 0 ? 0 : (uint8_t)count;
	memcpy(data + size + STORE_HEAD, &value, data[size + 5]);
	return size + STORE_HEAD + data[size + 5];
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	snprintf(session_path, sizeof(session_path), "%s/session", archive_directory());
	snprintf(trace_path, sizeof(trace_path), "%s/trace", archive_directory());
	sound = sound_session(WIRE_MODE_STREAM);
	make_left();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct burin_check_options check = { .size = sizeof(check), .on_fault = on_fault };
	struct burin_check_result result;
	struct session session;
	const char *why = "";
	int directory, file;
	bool sound_trace;

	FUZZ_HOLDS(mkdir(trace_path, 0700) == 0);
	directory = open(trace_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(directory >= 0 && mkdirat(directory, ".burin", 0700) == 0);
	sound_trace = scribble((struct fuzz_input){ data, size }, directory);
	file = session_file(AT_FDCWD, session_path, true, &why);
	if (file >= 0 && session_open(&session, file, &why) == 0) {
		/* Whatever the session holds, what was a sound trace is one when it is complete. */
		if (recover(&session, directory) == 0 && sound_trace)
			FUZZ_HOLDS(burin_trace_check(trace_path, &check, &result, NULL) == 0);
		session_leave(&session);
	}
	if (file >= 0)
		close(file);
	close(directory);
	archive_remove(trace_path);
	return 0;
}

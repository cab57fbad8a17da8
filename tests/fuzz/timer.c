/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What programs that sample themselves write for their recorder (wire/wire_preload.h): an input is a list of parts, each a kind (u8), a
 * size (u16) and bytes. A part is a record for the ring of samples or the side band; bytes that are stored into the session, behind the
 * place where (u32); or the end of a round of the recorder.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burin/read.h"
#include "drain/drain.h"
#include "fuzz.h"
#include "sound_session.h"
#include "source/perf/sampler.h"
#include "source/preload/record_writer.h"

enum part {
	PART_SAMPLE,
	PART_SIDE,
	PART_STORE,
	PART_ROUND,
	PARTS,
};

enum {
	PARTS_MAX = 64,
	RECORD_MAX = 4000,
	BUFFER = 512 << 10,
	TID = 4242,
};

static struct session *sound;
static char trace_path[300];

/* @bytes: a record as the kernel writes it; its header is put right, but in every eighth */
static void put_record(struct sampler *sampler, unsigned index, const uint8_t *bytes, size_t size)
{
	static _Alignas(8) char buffer[WIRE_LENGTH_MAX + 64];
	struct ring *ring = session_ring_use(&sampler->preload.session, index);
	struct writer writer = writer_begin(buffer);
	struct perf_event_header header = { 0 };
	struct ring_record record;

	if (size < sizeof(header) || size > RECORD_MAX)
		return;
	memcpy(&header, bytes, sizeof(header));
	memcpy(buffer + writer.used, bytes + sizeof(header), size - sizeof(header));
	writer.used += size - sizeof(header);
	record = writer_end(&writer, header.type, header.misc, TID);
	if (header.size % 8 == 7)
		memcpy(buffer + WIRE_HEADROOM + WRITER_COUNT, bytes, sizeof(header));
	ring->locked = true;
	ring_append_locked(ring, record, TID);
}

/* As another process: parts of our own mapping may have no access yet. */
static void store(const struct preload_reader *reader, struct fuzz_input input)
{
	const uint64_t bytes = reader->session.geometry.file_bytes;
	const uint64_t at = fuzz_take(&input, 4) % bytes;
	const size_t count = input.left < bytes - at ? input.left : (size_t)(bytes - at);
	const int file = open(reader->path, O_RDWR | O_CLOEXEC);

	FUZZ_HOLDS(file >= 0 && pwrite(file, input.at, count, (off_t)at) == (ssize_t)count);
	close(file);
}

static void take_parts(struct sampler *sampler, struct fuzz_input input)
{
	unsigned fullest = 0;

	for (unsigned n = 0; n < PARTS_MAX && input.left; n++) {
		const unsigned kind = (unsigned)fuzz_take(&input, 1) % PARTS;
		size_t size = (size_t)fuzz_take(&input, 2);

		size = size < input.left ? size : input.left;
		if (kind <= PART_SIDE)
			put_record(sampler,
				   kind == PART_SIDE ? preload_reader_side_band(&sampler->preload) : 0,
				   input.at, size);
		else if (kind == PART_STORE)
			store(&sampler->preload, (struct fuzz_input){ input.at, size });
		else
			sampler_round(sampler, &fullest);
		input.at += size;
		input.left -= size;
	}
}

static void on_fault(void *data, const struct burin_diagnosis *fault)
{
	(void)data;
	fprintf(stderr, "%s: byte %llu: %s\n", fault->file, (unsigned long long)fault->offset, fault->reason);
}

static void record(int directory, struct fuzz_input input)
{
	const struct perf_options options = { .event = "cpu-clock",
					      .frequency = 250,
					      .graph = PERF_GRAPH_BOTH,
					      .buffer_bytes = BUFFER,
					      .command = getpid() };
	const struct drain_options drained = { .command = "fuzz" };
	struct sampler_totals totals;
	struct drain_totals records;
	struct sampler sampler;
	struct drain drain;
	char why[256];

	FUZZ_HOLDS(drain_begin(&drain, sound, directory, &drained) == 0);
	FUZZ_HOLDS(sampler_open_preload(&sampler, sound, &options, why, sizeof(why)) == 0);
	FUZZ_HOLDS(sampler_begin(&sampler, directory) == 0);
	take_parts(&sampler, input);
	FUZZ_HOLDS(sampler_finish(&sampler, &totals) == 0);
	sampler_close(&sampler);
	FUZZ_HOLDS(drain_finish(&drain, "0", &records) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	snprintf(trace_path, sizeof(trace_path), "%s/trace", archive_directory());
	sound = sound_session(WIRE_MODE_FLIGHT);
	return 0;
}

/* Whatever programs write, the trace is sound. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct burin_check_options check = { .size = sizeof(check), .on_fault = on_fault };
	struct burin_check_result result;
	int directory;

	FUZZ_HOLDS(mkdir(trace_path, 0700) == 0);
	directory = open(trace_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(directory >= 0);
	record(directory, (struct fuzz_input){ data, size });
	FUZZ_HOLDS(burin_trace_check(trace_path, &check, &result, NULL) == 0);
	close(directory);
	archive_remove(trace_path);
	return 0;
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Traces as inputs; see archive.h. Mutations that know the form: blind ones would mostly damage sizes, after which a
 * reader does not get far. Tables are damaged within their blocks, which are uncompressed before; streams where words
 * stand.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "fuzz.h"
#include "wire/wire_packet.h"
#include "wire/wire_profile.h"

/* In the order of the numbers, which fuzz.py has as well: new ones at the end. */
static const char *const names[] = {
	".burin/recording",
	".burin/events",
	".burin/origin",
	".burin/profile",
	".burin/images",
	".burin/tasks",
	".burin/stacks",
	".burin/contexts",
	".burin/symbols",
	"metadata",
	"names",
	"names.1",
	"cpu0",
	"cpu0.1",
	"cpu0.2",
	"cpu1",
	"cpu1.1",
	"locked0",
	"samples0",
	"samples1",
	"samples0.1",
	".burin/calls.images",
	".burin/calls.functions",
	".burin/calls.symbols",
	".burin/calls.open",
	".burin/calls.counts",
	".burin/calls.values",
};

enum {
	NAMES = sizeof(names) / sizeof(*names),
	TABLES_FIRST = 4,
	TABLES_LAST = 8,
	STREAMS_FIRST = 10,
	CALLS_FIRST = 21, /* more tables */
	PART_HEAD = 5,
	PARTS_MAX = 64,
	BLOCK_MAX = 1 << 16, /* of what a table's block becomes */
};

struct part {
	unsigned name;
	const uint8_t *bytes;
	size_t size;
};

static unsigned split(const uint8_t *data, size_t size, struct part *parts)
{
	struct fuzz_input input = { data, size };
	unsigned count = 0;

	while (input.left && count < PARTS_MAX) {
		struct part *part = &parts[count++];

		part->name = (unsigned)fuzz_take(&input, 1) % NAMES;
		part->size = fuzz_take(&input, 4);
		part->size = part->size < input.left ? part->size : input.left;
		part->bytes = input.at;
		input.at += part->size;
		input.left -= part->size;
	}
	return count;
}

/* ---- files */

static char directory[256];
static pid_t maker;

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

void archive_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_own(void)
{
	if (getpid() == maker)
		archive_remove(directory);
}

const char *archive_directory(void)
{
	const char *tmp = getenv("TMPDIR");
	char extras[300];

	if (*directory)
		return directory;
	snprintf(directory, sizeof(directory), "%.200s/fuzz-XXXXXX", tmp ? tmp : "/dev/shm");
	FUZZ_HOLDS(mkdtemp(directory));
	snprintf(extras, sizeof(extras), "%s/.burin", directory);
	FUZZ_HOLDS(mkdir(extras, 0700) == 0);
	maker = getpid();
	atexit(remove_own);
	return directory;
}

static void store(int at, const struct part *part)
{
	const int file = openat(at, names[part->name], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_HOLDS(file >= 0 && write(file, part->bytes, part->size) == (ssize_t)part->size);
	close(file);
}

void archive_unpack(const uint8_t *data, size_t size)
{
	static bool there[NAMES];
	bool now[NAMES] = { false };
	struct part parts[PARTS_MAX];
	const unsigned count = split(data, size, parts);
	const int at = open(archive_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	FUZZ_HOLDS(at >= 0);
	for (unsigned n = 0; n < count; n++) {
		store(at, &parts[n]);
		now[parts[n].name] = true;
	}
	for (unsigned n = 0; n < NAMES; n++) {
		if (there[n] && !now[n])
			unlinkat(at, names[n], 0);
		there[n] = now[n];
	}
	close(at);
}

/* ---- mutations */

/* Values that programs stumble over. */
static uint64_t odd_value(uint64_t *state)
{
	static const uint64_t values[] = {
		0,	1,	7,	8,	 11,	     12,	 13,	     128,	1024,
		0x7fff, 0xfffe, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX
	};

	return fuzz_random(state) % 3 ? values[fuzz_random(state) % 18] : fuzz_random(state);
}

/* A number where numbers stand: near the beginning of a packet, or anywhere. */
static void mutate_word(uint8_t *bytes, size_t size, uint64_t *state)
{
	const size_t width = (size_t)1 << fuzz_random(state) % 4;
	const size_t range = fuzz_random(state) % 2 ? size : sizeof(struct wire_packet) + 64;
	const size_t at = fuzz_random(state) % (range < size ? range : size) & ~(width - 1);
	uint64_t value = odd_value(state);

	if (at + width > size)
		return;
	if (fuzz_random(state) % 4 == 0) { /* one more, or less */
		uint64_t old = 0;

		memcpy(&old, bytes + at, width);
		value = fuzz_random(state) % 2 ? old + 1 + fuzz_random(state) % 16
					       : old - 1 - fuzz_random(state) % 16;
	}
	memcpy(bytes + at, &value, width);
}

static size_t mutate_stream(uint8_t *bytes, size_t size, size_t max, uint64_t *state)
{
	if (size < 8 || fuzz_random(state) % 4 == 0)
		return LLVMFuzzerMutate(bytes, size, max);
	for (unsigned times = 1 + (unsigned)(fuzz_random(state) % 4); times--;)
		mutate_word(bytes, size, state);
	return size;
}

/* The entries of a block as they are; returns how many bytes, 0: they cannot be had. */
static size_t unpack_block(const struct wire_block *block, const uint8_t *stored, uint8_t out[BLOCK_MAX])
{
	size_t got;

	if (block->bytes > BLOCK_MAX)
		return 0;
	if (block->stored == block->bytes) {
		memcpy(out, stored, block->bytes);
		return block->bytes;
	}
	got = ZSTD_decompress(out, BLOCK_MAX, stored, block->stored);
	return ZSTD_isError(got) ? 0 : got;
}

/* Replaces the block at `at` by one whose entries are damaged. Return: the size of the whole. */
static size_t mutate_block(uint8_t *bytes, size_t size, size_t max, size_t at, uint64_t *state)
{
	static uint8_t entries[BLOCK_MAX], packed[BLOCK_MAX * 2];
	struct wire_block block;
	const uint8_t *put = entries;
	size_t behind, count;

	memcpy(&block, bytes + at, sizeof(block));
	behind = at + sizeof(block) + block.stored;
	count = unpack_block(&block, bytes + at + sizeof(block), entries);
	count = LLVMFuzzerMutate(entries, count, BLOCK_MAX);
	block.bytes = block.stored = (uint32_t)count;
	if (fuzz_random(state) % 8 == 0) {
		const size_t got = ZSTD_compress(packed, sizeof(packed), entries, count, 1);

		if (!ZSTD_isError(got) && got < count) {
			block.stored = (uint32_t)got;
			put = packed;
		}
	}
	if (fuzz_random(state) % 8 == 0)
		block.entries = (uint32_t)(fuzz_random(state) % 3 ? block.entries + 1 : odd_value(state));
	if (fuzz_random(state) % 16 == 0)
		block.columns = (uint32_t)(fuzz_random(state) % 4);
	if (at + sizeof(block) + block.stored + (size - behind) > max)
		return size;
	memmove(bytes + at + sizeof(block) + block.stored, bytes + behind, size - behind);
	memcpy(bytes + at, &block, sizeof(block));
	memcpy(bytes + at + sizeof(block), put, block.stored);
	return at + sizeof(block) + block.stored + (size - behind);
}

static size_t mutate_table(uint8_t *bytes, size_t size, size_t max, uint64_t *state)
{
	size_t blocks[32], at = sizeof(struct wire_table);
	unsigned count = 0;

	while (count < 32 && at + sizeof(struct wire_block) <= size) {
		struct wire_block block;

		memcpy(&block, bytes + at, sizeof(block));
		if (block.stored > size - at - sizeof(block))
			break;
		blocks[count++] = at;
		at += sizeof(block) + block.stored;
	}
	if (!count || fuzz_random(state) % 8 == 0)
		return mutate_stream(bytes, size, max, state);
	return mutate_block(bytes, size, max, blocks[fuzz_random(state) % count], state);
}

static size_t mutate_part(const struct part *part, uint8_t *out, size_t room, uint64_t *state)
{
	const size_t size = part->size < room ? part->size : room;

	if (!room) /* LLVMFuzzerMutate() would write a byte */
		return 0;
	memcpy(out, part->bytes, size);
	if ((part->name >= TABLES_FIRST && part->name <= TABLES_LAST) || part->name >= CALLS_FIRST)
		return mutate_table(out, size, room, state);
	return part->name >= STREAMS_FIRST ? mutate_stream(out, size, room, state)
					   : LLVMFuzzerMutate(out, size, room);
}

static size_t put_head(uint8_t *out, unsigned name, size_t size)
{
	const uint32_t bytes = (uint32_t)size;

	out[0] = (uint8_t)name;
	memcpy(out + 1, &bytes, sizeof(bytes));
	return PART_HEAD;
}

size_t archive_mutate(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	uint64_t state = seed;
	struct part parts[PARTS_MAX];
	const unsigned count = split(data, size < max ? size : max, parts);
	const unsigned chosen = count ? (unsigned)(fuzz_random(&state) % count) : 0;
	const unsigned what = (unsigned)(fuzz_random(&state) % 32);
	uint8_t *out;
	size_t used = 0;

	if (!count || what == 0)
		return LLVMFuzzerMutate(data, size < max ? size : max, max);
	out = malloc(max + PART_HEAD);
	FUZZ_HOLDS(out);
	for (unsigned n = 0; n < count; n++) {
		const bool damaged = n == chosen && what > 2;
		unsigned name = parts[n].name;
		size_t bytes;

		if ((n == chosen && what == 1) || max - used < PART_HEAD)
			continue; /* left out */
		if (n == chosen && what == 2)
			name = (unsigned)(fuzz_random(&state) % NAMES);
		if (damaged) {
			bytes = mutate_part(&parts[n], out + used + PART_HEAD, max - used - PART_HEAD,
					    &state);
		} else {
			bytes = parts[n].size < max - used - PART_HEAD ? parts[n].size
								       : max - used - PART_HEAD;
			memcpy(out + used + PART_HEAD, parts[n].bytes, bytes);
		}
		used += put_head(out + used, name, bytes) + bytes;
	}
	memcpy(data, out, used);
	free(out);
	return used;
}

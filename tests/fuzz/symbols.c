/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of code. The first byte says what follows: messages of a child that symbolizes, as they come or each with its size
 * put right; an ELF image, whose symbols are read; a mangled name; the table of functions of a Go program;
 * a file of kept names. DWARF is left to libdw, in children that may die.
 */
#include "fuzz.h"
#include "image/names/demangle.h"
#include "image/names/go_names.h"
#include "image/elf/image.h"
#include "image/names/plt.h"
#include "image/symbolize/symbolize_parts.h"
#include "image/names/symbols.h"

enum {
	KIND_STREAM,
	KIND_MESSAGES,
	KIND_IMAGE,
	KIND_NAME,
	KIND_GO,
	KIND_KEPT,
	KINDS,
	OFFSETS = 16,
};

static int take_entry(void *data, const void *bytes, size_t count)
{
	unsigned sum = 0;

	(void)data;
	FUZZ_HOLDS(count && count <= CHILD_MESSAGE_MAX);
	for (size_t n = 0; n < count; n++)
		sum += ((const unsigned char *)bytes)[n];
	fuzz_use(sum);
	return 0;
}

static void take_parameters(void *data, uint32_t image, uint64_t offset, const char *spec, const char *file)
{
	(void)data;
	fuzz_use((unsigned)(strlen(spec ?: "") + strlen(file) + offset + image));
}

/* As the parent hears a child: in pieces. */
static void hear(const uint8_t *data, size_t size, size_t piece)
{
	static const struct symbolize_options options = { .entry = take_entry,
							  .parameters = take_parameters };
	uint64_t offsets[OFFSETS];
	bool answered[OFFSETS] = { false };
	struct symbolize_counts counts = { 0 };
	const struct symbolize_image image = { .number = 7, .offsets = offsets, .count = OFFSETS };
	struct result result = { 0 };
	struct job job = {
		.task = { .image = &image, .offsets = offsets, .count = OFFSETS, .parameters = true },
		.result = &result,
		.answered = answered
	};
	struct symbolize all = { .options = &options, .counts = &counts };

	for (unsigned n = 0; n < OFFSETS; n++)
		offsets[n] = n * 8;
	all.entry = malloc(CHILD_MESSAGE_MAX);
	job.buffer = malloc(size ? size : 1);
	FUZZ_HOLDS(all.entry && job.buffer);
	for (size_t at = 0; at < size && !job.wrong;) {
		const size_t bytes = piece < size - at ? piece : size - at;

		memcpy(job.buffer + job.filled, data + at, bytes);
		job.filled += bytes;
		at += bytes;
		FUZZ_HOLDS(symbolize_receive(&all, &job) == 0);
	}
	texts_free(&all.texts);
	free(result.hint);
	free(job.texts);
	free(job.buffer);
	free(all.entry);
}

/* Pieces of the input as messages: a size (u8, of 255 bytes and more the rest), then so many bytes. */
static void hear_messages(struct fuzz_input input)
{
	uint8_t *out = malloc(input.left * 5 + 8);
	size_t used = 0;

	FUZZ_HOLDS(out);
	while (input.left) {
		uint32_t bytes = (uint32_t)fuzz_take(&input, 1);

		if (bytes == 255 || bytes > input.left)
			bytes = (uint32_t)input.left;
		memcpy(out + used, &bytes, sizeof(bytes));
		memcpy(out + used + sizeof(bytes), input.at, bytes);
		used += sizeof(bytes) + bytes;
		input.at += bytes;
		input.left -= bytes;
	}
	hear(out, used, 1 << 16);
	free(out);
}

/* Sorted symbols hold what they promise. */
static unsigned look(const struct symbols *symbols)
{
	unsigned sum = 0;

	for (size_t n = 0; n < symbols->count; n++) {
		const struct symbol *symbol = &symbols->all[n];

		FUZZ_HOLDS(!n || symbols->all[n - 1].address <= symbol->address);
		FUZZ_HOLDS(symbol->outer <= n);
		for (uint32_t at = 0; at < symbol->bytes; at++)
			sum += (unsigned char)symbol->name[at];
		symbols_find(symbols, symbol->address);
	}
	return sum;
}

static void read_image(const uint8_t *data, size_t size)
{
	char *bytes = fuzz_copy(data, size);
	struct symbols symbols = { 0 };
	struct image image;
	unsigned sum = 0;

	elf_version(EV_CURRENT);
	if (image_open_memory(&image, bytes, size) == 0) {
		Elf *elf = elf_memory(bytes, size);

		if (elf && symbols_read(&symbols, elf, NULL) == 0 && go_names_read(&symbols, elf) == 0)
			plt_read(&symbols, elf);
		sum = look(&symbols);
		symbols_free(&symbols);
		elf_end(elf);
		image_close(&image);
	}
	free(bytes);
	fuzz_use(sum);
}

/* The key in front is not that of any image. */
static void read_kept(const uint8_t *data, size_t size)
{
	struct names_cache cache = { .stored_bytes = sizeof(cache.key) + size };
	static struct names_cache_answer answer;
	unsigned sum = 0;
	bool valid;

	cache.stored = calloc(1, cache.stored_bytes);
	FUZZ_HOLDS(cache.stored);
	memcpy(cache.stored + sizeof(cache.key), data, size);
	valid = names_cache_parse(&cache);
	for (size_t n = 0; valid && n < OFFSETS; n++) {
		if (!names_cache_find(&cache, n * n * n, &answer))
			continue;
		FUZZ_HOLDS(answer.from <= n * n * n && n * n * n < answer.to &&
			   answer.count <= LINES_FRAMES_MAX);
		for (unsigned frame = 0; frame < answer.count; frame++)
			for (size_t at = 0; at < answer.frames[frame].name.bytes; at++)
				sum += (unsigned char)answer.frames[frame].name.text[at];
	}
	names_cache_free(&cache);
	fuzz_use(sum + (unsigned)strlen(cache.hint) + (unsigned)strlen(cache.package));
}

static void read_go(const uint8_t *data, size_t size)
{
	char *bytes = fuzz_copy(data, size);
	struct symbols symbols = { 0 };

	if (go_names_parse(&symbols, bytes, size, 0x1000, 0x1000) == 0)
		symbols_sort(&symbols);
	fuzz_use(look(&symbols));
	symbols_free(&symbols);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	const unsigned kind = (unsigned)fuzz_take(&input, 1) % KINDS;
	char out[DEMANGLE_OUT_MAX], *text;

	if (kind == KIND_STREAM) {
		const size_t piece = 1 + (size_t)fuzz_take(&input, 1);

		hear(input.at, input.left, piece);
	} else if (kind == KIND_MESSAGES) {
		hear_messages(input);
	} else if (kind == KIND_IMAGE) {
		read_image(input.at, input.left);
	} else if (kind == KIND_GO) {
		read_go(input.at, input.left);
	} else if (kind == KIND_KEPT) {
		read_kept(input.at, input.left);
	} else {
		text = fuzz_text(input.at, input.left);
		FUZZ_HOLDS(demangle(out, text) < sizeof(out));
		free(text);
	}
	return 0;
}

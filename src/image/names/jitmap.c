/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Code made at run time; see jitmap.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "image/names/jitmap.h"

enum {
	FILE_MAX = 1 << 30,
	LOADS_MAX = 1 << 20,	 /* loads that later moves can refer to */
	WORK_MAX = 1 << 28,	 /* names set and loads compared: a second or two */
	DUMP_MAGIC = 0x4a695444, /* "JiTD" */
	DUMP_HEADER = 40,
	RECORD_HEADER = 16,
};

/* Records of a jitdump; each begins with its kind (u32), its size (u32) and its time (u64). */
enum dump_record {
	DUMP_LOAD,
	DUMP_MOVE,
	DUMP_LINES,
};

struct wanted {
	const uint64_t *addresses; /* or offsets of code in the dump */
	size_t count;
	bool offsets;
	struct jitmap_name *names;
	uint64_t work; /* so far; bounded, since every entry may cover all addresses or be a move */
};

int jitmap_read(struct jitmap *map, int file)
{
	struct stat status;
	ssize_t got = 1;

	*map = (struct jitmap){ 0 };
	if (fstat(file, &status) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (status.st_size > FILE_MAX)
		return -EFBIG;
	map->text = malloc((size_t)status.st_size + 1);
	if (!map->text)
		return -ENOMEM;
	while (got > 0 && map->bytes < (size_t)status.st_size) {
		got = pread(file, map->text + map->bytes, (size_t)status.st_size - map->bytes,
			    (off_t)map->bytes);
		map->bytes += got > 0 ? (size_t)got : 0;
	}
	map->text[map->bytes] = 0;
	return 0;
}

void jitmap_free(struct jitmap *map)
{
	free(map->text);
	*map = (struct jitmap){ 0 };
}

static size_t jitmap_first_from(const struct wanted *wanted, uint64_t address)
{
	size_t low = 0, high = wanted->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (wanted->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Names the addresses in the function @name that are at @from or later. */
static void set_names(struct wanted *wanted, uint64_t from, const struct jitmap_name *name)
{
	for (size_t n = jitmap_first_from(wanted, from);
	     n < wanted->count && wanted->addresses[n] - name->begin < name->size; n++) {
		wanted->names[n] = *name;
		wanted->work++;
	}
}

/* ---- text */

/* A hexadecimal number, with or without 0x, and the blanks after it. Return: the text after them; NULL: no number. */
static const char *jitmap_hexadecimal(const char *at, const char *end, uint64_t *value)
{
	const char *first;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	*value = 0;
	for (first = at; at < end && at - first < 16; at++) {
		const char letter = *at | 32;
		const int digit = *at >= '0' && *at <= '9'	   ? *at - '0'
				  : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
								   : -1;

		if (digit < 0)
			break;
		*value = *value << 4 | (unsigned)digit;
	}
	if (at == first || at == end || (*at != ' ' && *at != '\t'))
		return NULL;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static void jitmap_read_line(struct wanted *wanted, const char *line, const char *end)
{
	struct jitmap_name name = { 0 };
	const char *at = jitmap_hexadecimal(line, end, &name.begin);

	at = at ? jitmap_hexadecimal(at, end, &name.size) : NULL;
	if (!at || at == end || end - at > UINT16_MAX)
		return;
	name.name = at;
	name.bytes = (uint32_t)(end - at);
	set_names(wanted, name.begin, &name);
}

static void jitmap_read_text(struct wanted *wanted, const struct jitmap *map)
{
	const char *at = map->text, *stop = at + map->bytes;

	while (at < stop && wanted->work < WORK_MAX) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));

		if (!end)
			return; /* a line that is still being written */
		jitmap_read_line(wanted, at, end);
		at = end + 1;
	}
}

/* ---- jitdump */

struct load {
	uint64_t index;
	struct jitmap_name name;
};

struct dump {
	struct wanted *wanted;
	const char *begin;
	const char *lines, *lines_end; /* the DUMP_LINES record for the next load */
	struct load *loads;
	size_t count, room;
};

/* Return: the text, and moves `at` behind it; NULL: it does not end. */
static const char *jitmap_text_at(const char **at, const char *end)
{
	const char *text = *at, *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	*at = nul ? nul + 1 : end;
	return nul ? text : NULL;
}

/* u64 address of the code, u64 count, then: u64 address, u32 line, u32 discriminator, file. */
static void set_lines(const struct dump *dump, const struct jitmap_name *name, uint64_t loaded)
{
	const char *at = dump->lines, *file = NULL;

	if (!at || number_load64(at) != loaded)
		return;
	at += 16;
	for (uint64_t n = number_load64(dump->lines + 8); n && dump->lines_end - at > 16; n--) {
		struct jitmap_name line = *name;
		const uint64_t address = number_load64(at) - loaded + name->begin;
		const char *text;

		line.line = number_load32(at + 8);
		at += 16;
		text = jitmap_text_at(&at, dump->lines_end);
		if (text && strcmp(text, "\xff") != 0) /* "\xff" means the file of the line before */
			file = text;
		line.file = file;
		set_names(dump->wanted, address,
			  &line); /* up to the function's end; the next line overwrites the rest */
	}
}

static void add_load(struct dump *dump, const struct load *load)
{
	if (!array_reserve_max(dump->loads, dump->room, dump->count + 1, LOADS_MAX))
		return; /* then a later move of it is ignored */
	dump->loads[dump->count++] = *load;
}

/* u32 pid, u32 tid, u64 vma, u64 address, u64 size, u64 index, name, code */
static void read_load(struct dump *dump, const char *at, const char *end)
{
	const char *text = at + 40;
	struct load load = { 0 };
	uint64_t loaded;

	if (end - at < 41)
		return;
	loaded = number_load64(at + 16);
	load.index = number_load64(at + 32);
	load.name = (struct jitmap_name){ .begin = loaded, .size = number_load64(at + 24) };
	load.name.name = jitmap_text_at(&text, end);
	if (!load.name.name || text - load.name.name > UINT16_MAX)
		return;
	load.name.bytes = (uint32_t)(text - load.name.name - 1);
	if (dump->wanted->offsets)
		load.name.begin = (uint64_t)(end - dump->begin) - load.name.size;
	set_names(dump->wanted, load.name.begin, &load.name);
	set_lines(dump, &load.name, loaded);
	dump->lines = NULL;
	if (!dump->wanted->offsets) /* moves do not change offsets in the dump */
		add_load(dump, &load);
}

/* u32 pid, u32 tid, u64 vma, u64 old address, u64 new address, u64 size, u64 index */
static void read_move(struct dump *dump, const char *at, const char *end)
{
	if (end - at < 48)
		return;
	for (size_t n = dump->count; n--;) {
		struct load *load = &dump->loads[n];

		dump->wanted->work++;
		if (load->index != number_load64(at + 40))
			continue;
		load->name.begin = number_load64(at + 24);
		load->name.size = number_load64(at + 32);
		set_names(dump->wanted, load->name.begin, &load->name);
		return;
	}
}

static void read_dump(struct wanted *wanted, const struct jitmap *map)
{
	struct dump dump = { .wanted = wanted, .begin = map->text };
	const uint32_t header = number_load32(map->text + 8);
	const char *end = map->text + map->bytes, *at = header < map->bytes ? map->text + header : end;
	uint32_t bytes;

	for (; end - at >= RECORD_HEADER && wanted->work < WORK_MAX; at += bytes) {
		const char *content = at + RECORD_HEADER;
		const uint32_t kind = number_load32(at);

		bytes = number_load32(at + 4);
		if (bytes < RECORD_HEADER || bytes > (size_t)(end - at))
			break;
		if (kind == DUMP_LOAD)
			read_load(&dump, content, at + bytes);
		else if (kind == DUMP_MOVE)
			read_move(&dump, content, at + bytes);
		else if (kind == DUMP_LINES && bytes >= RECORD_HEADER + 16)
			dump.lines = content, dump.lines_end = at + bytes;
	}
	free(dump.loads);
}

/* Copies up to @count bytes at an offset, through the window. Return: how many there are. */
static size_t jitmap_read_at(struct jitdump_window *window, int file, uint64_t at, char *to, size_t count)
{
	if (at < window->at || at + count > window->at + window->bytes) {
		const ssize_t got = pread(file, window->data, sizeof(window->data), (off_t)at);

		window->at = at;
		window->bytes = got > 0 ? (size_t)got : 0;
	}
	if (count > window->at + window->bytes - at)
		count = (size_t)(window->at + window->bytes - at);
	memcpy(to, window->data + (at - window->at), count);
	return count;
}

bool jitdump_next(struct jitdump_window *window, int file, uint64_t bytes, uint64_t *at,
		  struct jitdump_record *out)
{
	char head[RECORD_HEADER + 48] = { 0 }; /* of a move, the longest without a name */
	uint64_t next;

	*out = (struct jitdump_record){ .kind = JITDUMP_OTHER };
	if (*at == 0) {
		if (bytes < DUMP_HEADER || jitmap_read_at(window, file, 0, head, 16) != 16 ||
		    number_load32(head) != DUMP_MAGIC || number_load32(head + 8) < DUMP_HEADER)
			return false;
		*at = number_load32(head + 8);
	}
	if (*at >= bytes || jitmap_read_at(window, file, *at, head, sizeof(head)) < RECORD_HEADER)
		return false;
	next = *at + number_load32(head + 4);
	if (next < *at + RECORD_HEADER || next > bytes)
		return false;
	out->time = number_load64(head + 8);
	out->address = number_load64(head + RECORD_HEADER + 16);
	out->size = number_load64(head + RECORD_HEADER + 24);
	if (number_load32(head) == DUMP_LOAD && out->size < next - *at - RECORD_HEADER - 40) {
		out->kind = JITDUMP_LOAD;
		out->code = next - out->size;
	} else if (number_load32(head) == DUMP_MOVE && next - *at >= sizeof(head)) {
		out->kind = JITDUMP_MOVE;
		out->from = out->address;
		out->address = out->size;
		out->size = number_load64(head + RECORD_HEADER + 32);
	}
	*at = next;
	return true;
}

static bool jitmap_find_entry(const struct jitmap *map, struct wanted *wanted)
{
	memset(wanted->names, 0, wanted->count * sizeof(*wanted->names));
	if (map->bytes >= DUMP_HEADER && number_load32(map->text) == DUMP_MAGIC)
		read_dump(wanted, map);
	else if (!wanted->offsets)
		jitmap_read_text(wanted, map);
	return wanted->work < WORK_MAX;
}

bool jitmap_find(const struct jitmap *map, const uint64_t *addresses, size_t count, struct jitmap_name *names)
{
	return jitmap_find_entry(map, &(struct wanted){ addresses, count, false, names, 0 });
}

bool jitdump_find(const struct jitmap *map, const uint64_t *offsets, size_t count, struct jitmap_name *names)
{
	return jitmap_find_entry(map, &(struct wanted){ offsets, count, true, names, 0 });
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Code made at run time; see jit.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/jitmap.h"
#include "source/sample/jit.h"

enum {
	JIT_PARTS_MAX = 1 << 18, /* of a dump; the rest is named by address */
};

bool jit_is_made(struct sample_image *image)
{
	if (image->kind == WIRE_IMAGE_ANONYMOUS)
		return !image->path[0];
	/* Mapped twice, to be written here and executed there; but programs may lie in such a file, too. */
	return image->in_memory && !images_elf(image);
}

/* ---- maps */

/* The pid that a process has for itself: the last of its pids, the innermost namespace's. */
static uint32_t inner_pid(uint32_t pid)
{
	char path[64], line[256];
	uint32_t inner = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			inner = (uint32_t)strtoul(last, NULL, 10);
	}
	if (file)
		fclose(file);
	return inner;
}

/*
 * The map of a process, as it sees it: `/tmp/perf-PID.map`. @path: filled in with that.
 * Return: a descriptor; -ENOENT: there is none.
 */
static int open_map(uint32_t pid, char *path, size_t bytes)
{
	/* Anybody may put anything there: a pipe, or a link to what is not his to see. */
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
	struct stat status;
	char seen[128];
	int file;

	snprintf(path, bytes, "/tmp/perf-%u.map", inner_pid(pid));
	snprintf(seen, sizeof(seen), "/proc/%u/root%s", pid, path);
	file = open(seen, flags);
	if (file < 0)
		file = open(path, flags);
	if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode)))
		return file < 0 ? -ENOENT : file;
	close(file);
	return -ENOENT;
}

void jit_look(struct jit *jit, struct images *images)
{
	char path[64];
	const int file = jit->copied ? -1 : open_map(jit->pid, path, sizeof(path));

	if (file < 0)
		return;
	if (!jit->map)
		jit->map = images_named(images, WIRE_IMAGE_JIT, path, jit->process, NULL, 0);
	if (jit->map)
		images_pin(jit->map, file);
	if (jit->unnamed)
		images_pin(jit->unnamed, file);
	close(file);
}

/* Once a round: the map may come, or be replaced. What a dump says of addresses is as good as a map. */
static struct sample_image *find_map(struct jit *jit, const struct jit_state *state)
{
	if (jit->looked <= state->round) {
		jit->looked = state->round + 1;
		jit_look(jit, state->images);
	}
	if (!jit->map && jit->dump) {
		jit->map =
			images_named(state->images, WIRE_IMAGE_JIT, jit->dump->path, jit->process, NULL, 0);
		if (jit->map)
			images_pin(jit->map, jit->dump->fd);
	}
	if (!jit->map && !jit->unnamed)
		jit->unnamed = images_named(state->images, WIRE_IMAGE_ANONYMOUS, NULL, jit->process, NULL, 0);
	return jit->map ? jit->map : jit->unnamed;
}

/* ---- dumps */

/* Lay a part of the dump where it was loaded, or moved. Return: whether that could be done. */
static bool lay(struct jit *jit, const struct jitdump_record *record)
{
	const struct mapping *from =
		record->kind == JITDUMP_MOVE ? mappings_find(&jit->code, record->from) : NULL;
	struct mapping part = { .begin = record->address,
				.end = record->address + record->size,
				.offset = record->code,
				.image = jit->dump };

	if (record->kind == JITDUMP_OTHER)
		return true;
	if (record->kind == JITDUMP_MOVE) {
		if (!from)
			return false;
		part.offset = from->offset + (record->from - from->begin);
	}
	return part.end > part.begin && jit->code.count < JIT_PARTS_MAX &&
	       mappings_add(&jit->code, &part) == 0;
}

/* Read what the dump tells of the time up to a sample's. */
static void follow(struct jit *jit, struct jit_state *state, uint64_t time)
{
	struct jitdump_record record;
	struct stat status;
	uint64_t next = jit->at;

	if (fstat(jit->dump->fd, &status) != 0)
		return;
	while (jitdump_next(jit->dump->fd, (uint64_t)status.st_size, &next, &record)) {
		const uint64_t told = record.time + (uint64_t)state->ahead;

		if (told > time)
			break;
		state->late += !lay(jit, &record) || (record.kind && told < jit->time);
		jit->at = next;
	}
	if (time > jit->time)
		jit->time = time;
}

struct sample_image *jit_find(struct jit *jit, struct jit_state *state, uint64_t address, uint64_t time,
			      uint64_t *offset)
{
	const struct mapping *part;

	if (jit->dump && jit->dump->fd >= 0)
		follow(jit, state, time);
	part = mappings_find(&jit->code, address);
	*offset = part ? part->offset + (address - part->begin) : address;
	return part ? part->image : find_map(jit, state);
}

/* ---- address spaces */

int jit_copy(struct jit *to, const struct jit *from)
{
	const uint32_t pid = to->pid, process = to->process;

	*to = (struct jit){ .pid = pid,
			    .process = process,
			    .copied = from->unnamed || from->map,
			    .unnamed = from->unnamed,
			    .map = from->map };
	return mappings_copy(&to->code, &from->code);
}

void jit_clear(struct jit *jit)
{
	mappings_clear(&jit->code);
	jit->dump = NULL;
}

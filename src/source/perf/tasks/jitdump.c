/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Code generated at run time; see jitdump.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/foreign.h"
#include "image/names/jitmap.h"
#include "source/perf/tasks/jitdump.h"

enum {
	MAP_LOOKS = 3, /* after so many looks for a map, one look is 8 rounds after the other */
};

bool jit_is_generated(struct sample_image *image)
{
	if (image->kind == WIRE_IMAGE_ANONYMOUS)
		return !image->path[0];
	/* A memfd may be mapped twice, once to write code and once to execute it. It may also be an ELF file. */
	return image->in_memory && !images_elf(image);
}

/* ---- perf maps */

/*
 * Open the perf map of a process in its own namespace: `/tmp/perf-PID.map`. A process can put any file there, so it is
 * opened with the process' rights, and must belong to its user or root. After its end, the last known user and pid count.
 * @path: receives the path. Return: a descriptor; -ENOENT: there is none.
 */
static int open_map(struct jit *jit, char *path, size_t bytes)
{
	struct foreign_process process;
	const struct foreign checks = { .bytes_max = FOREIGN_MAP_MAX,
					.reader = &jit->user.user,
					.owner = &jit->user.user };
	char root_path[64];
	int root, file = -ENOENT;

	if (foreign_process_read(&process, jit->pid) == 0)
		jit->user = process;
	else if (!jit->user.inner_pid)
		jit->user = (struct foreign_process){ { geteuid(), getegid() }, jit->pid };
	snprintf(path, bytes, "/tmp/perf-%u.map", jit->user.inner_pid);
	snprintf(root_path, sizeof(root_path), "/proc/%u/root", jit->pid);
	root = foreign_root(root_path);
	if (root >= 0) {
		file = foreign_open(&checks, root, path);
		close(root);
	}
	if (file < 0)
		file = foreign_open(&checks, FOREIGN_HERE, path);
	return file < 0 ? -ENOENT : file;
}

/* Names the code by a file. @path: its name, if it is the first image of this code */
static void jitdump_take_map(struct jit *jit, struct images *images, const char *path, int file)
{
	if (!jit->map)
		images_set(&jit->map,
			   jit->unnamed ? jit->unnamed
					: images_named(images, WIRE_IMAGE_JIT, path, jit->process, NULL, 0));
	if (jit->map)
		images_pin(jit->map, file);
}

void jit_update_map(struct jit *jit, struct images *images)
{
	char path[64];
	const int file = jit->copied ? -1 : open_map(jit, path, sizeof(path));

	if (file < 0)
		return;
	jitdump_take_map(jit, images, path, file);
	close(file);
}

/* Code that nothing names has the name of its program, so that reports show it as one. */
static struct sample_image *make_unnamed(const struct jit *jit, const struct jit_state *state,
					 const char *program)
{
	const char *slash = program ? strrchr(program, '/') : NULL;
	char path[sizeof(WIRE_IMAGE_MADE_OF) + 64];

	snprintf(path, sizeof(path), "%s%s", program ? WIRE_IMAGE_MADE_OF : WIRE_IMAGE_MADE,
		 slash	   ? slash + 1
		 : program ? program
			   : "");
	return images_named(state->images, WIRE_IMAGE_ANONYMOUS, path, jit->process, NULL, 0);
}

/*
 * Find the map. It may be created or replaced at any time, and names code of before as well, so it is looked for again, at
 * longer intervals and when the process ends. Without one, the dump names addresses as well.
 */
static struct sample_image *find_map(struct jit *jit, const struct jit_state *state, const char *program)
{
	if (jit->map_round <= state->round) {
		jit->map_round = state->round + (UINT64_C(1) << jit->map_looks);
		jit->map_looks += jit->map_looks < MAP_LOOKS;
		jit_update_map(jit, state->images);
	}
	if (!jit->map && jit->dump)
		jitdump_take_map(jit, state->images, jit->dump->path, jit->dump->fd);
	if (!jit->map && !jit->unnamed)
		images_set(&jit->unnamed, make_unnamed(jit, state, program));
	return jit->map ? jit->map : jit->unnamed;
}

/* ---- dumps */

/* A piece that is empty or exceeds the address space contains no address; perf's map of it is empty, too. */
static bool jitdump_is_code(const struct jitdump_record *record)
{
	return record->kind != JITDUMP_OTHER && record->address + record->size > record->address;
}

/* Map a part of the dump where it was loaded or moved. Return: false: unknown origin, or no memory. */
static bool map_part(struct jit *jit, const struct jitdump_record *record)
{
	const struct mapping *from =
		record->kind == JITDUMP_MOVE ? mappings_find(&jit->code, record->from) : NULL;
	struct mapping part = { .begin = record->address,
				.end = record->address + record->size,
				.offset = record->code,
				.image = jit->dump };

	if (record->kind == JITDUMP_MOVE) {
		if (!from)
			return false;
		part.offset = from->offset + (record->from - from->begin);
	}
	/* A process can easily generate many pieces of code, so half of the nodes are reserved for mappings. */
	return mappings_in_use() < MAPPINGS_NODES_MAX / 2 && mappings_add(&jit->code, &part) == 0;
}

/*
 * Read the dump's records up to a sample's time; those beyond the process' allowance, in a later round. Until then, and for
 * code that there is no room for, an address has the last name that it was given.
 */
static void jitdump_follow(struct jit *jit, struct jit_state *state, uint64_t time)
{
	struct budget *budget = &state->images->budget;
	struct jitdump_window window;
	struct jitdump_record record;
	struct stat status;
	uint64_t next = jit->at;

	if (fstat(jit->dump->fd, &status) != 0)
		return;
	if ((uint64_t)status.st_size > FOREIGN_MAP_MAX)
		status.st_size = (off_t)FOREIGN_MAP_MAX;
	window.bytes = 0;
	while (jitdump_next(&window, jit->dump->fd, (uint64_t)status.st_size, &next, &record)) {
		const uint64_t since = record.time + (uint64_t)state->ahead;
		bool mapped;

		if (since > time)
			break;
		if (!budget_spend(budget, BUDGET_JIT, jit->pid)) {
			budget_over(budget, BUDGET_JIT, jit->pid);
			break;
		}
		jit->at = next;
		if (!jitdump_is_code(&record))
			continue;
		mapped = map_part(jit, &record);
		if (!mapped && record.kind == JITDUMP_LOAD)
			budget_over(budget, BUDGET_MAPPINGS, jit->pid);
		state->late += !mapped || since < jit->time;
	}
	if (time > jit->time)
		jit->time = time;
}

struct sample_image *jit_find(struct jit *jit, struct jit_state *state, const char *program, uint64_t address,
			      uint64_t time, uint64_t *offset)
{
	const struct mapping *part;

	if (jit->dump && jit->dump->fd >= 0 && jit->time != time) /* once for all frames of a stack */
		jitdump_follow(jit, state, time);
	part = mappings_find(&jit->code, address);
	*offset = part ? part->offset + (address - part->begin) : address;
	return part ? part->image : find_map(jit, state, program);
}

/* ---- address spaces */

void jit_copy(struct jit *to, const struct jit *from)
{
	const uint32_t pid = to->pid, process = to->process;

	*to = (struct jit){ .pid = pid, .process = process, .copied = from->unnamed || from->map };
	images_set(&to->unnamed, from->unnamed);
	images_set(&to->map, from->map);
	mappings_copy(&to->code, &from->code);
}

void jit_clear(struct jit *jit)
{
	mappings_clear(&jit->code);
	images_set(&jit->dump, NULL);
	images_set(&jit->map, NULL);
	images_set(&jit->unnamed, NULL);
}

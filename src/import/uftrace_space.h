/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Address spaces of a data directory of uftrace: which function an address is in. */
#ifndef BURIN_IMPORT_UFTRACE_SPACE_H
#define BURIN_IMPORT_UFTRACE_SPACE_H

#include "base/containers/arena.h"
#include "base/containers/hash_table.h"
#include "import/calls_trace.h"
#include "wire/wire_uftrace.h"

struct uftrace_symbol {
	uint64_t begin;
	const char *name;
	uint32_t function; /* in the trace; 0: not yet */
};

struct uftrace_image {
	const char *path;
	char build_id[2 * WIRE_UFTRACE_BUILD_ID + 1]; /* hexadecimal; "": none */
	struct uftrace_symbol *symbols;		      /* by begin */
	size_t count, room;
	uint32_t number; /* in the trace */
	bool relative;	 /* the symbols' addresses are */
};

struct uftrace_mapping {
	uint64_t begin, end;
	uint32_t image; /* index */
};

/* A session: what a process has mapped from an exec on. */
struct uftrace_space {
	char session[WIRE_UFTRACE_SESSION + 1];
	struct uftrace_mapping *mappings;
	size_t count, room;
	/* By uftrace_spaces_index(): */
	uint64_t *bounds; /* where mappings begin and end, in order: pieces lie between */
	uint32_t *pieces; /* number of the mapping that counts there, + 1; 0: none */
};

/* An address that was looked up. */
struct uftrace_known {
	uint32_t space, function;
	uint64_t address;
};

/* Zero it before use, but for the first three. */
struct uftrace_spaces {
	int directory;
	struct calls_trace *trace;
	bool relative;
	struct arena strings;
	struct uftrace_image *images;
	size_t image_count, image_room;
	struct hash_table image_numbers; /* of the images, by path and build id */
	struct uftrace_space *list;
	size_t count, room;
	struct hash_table numbers; /* of the spaces, by session */
	struct uftrace_known *known;
	size_t known_count, known_room;
	struct hash_table table; /* of the known ones */
	uint32_t elsewhere;	 /* image of addresses in no mapping; 0: none yet */
};

/* uftrace_space_add - read the map of a session. Return: its index; -errno: there is no such map. */
int uftrace_space_add(struct uftrace_spaces *spaces, const char *session);

/* uftrace_space_library - a session has loaded a library. Return: 0 or -errno. */
int uftrace_space_library(struct uftrace_spaces *spaces, const char *session, uint64_t base,
			  const char *path);

/* uftrace_spaces_index - prepare for look-ups by address; behind it no space or library is added. Return: 0 or -ENOMEM. */
int uftrace_spaces_index(struct uftrace_spaces *spaces);

/* uftrace_space_maps - whether an address lies in a mapping. */
bool uftrace_space_maps(const struct uftrace_spaces *spaces, uint32_t space, uint64_t address);

/* uftrace_space_function - the function of an address, in the trace. @space: UINT32_MAX: unknown. Return: 0: no memory. */
uint32_t uftrace_space_function(struct uftrace_spaces *spaces, uint32_t space, uint64_t address);

void uftrace_spaces_free(struct uftrace_spaces *spaces);

#endif

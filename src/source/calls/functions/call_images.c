/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Loaded objects; see call_images.h. */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "session/calls/session_calls.h"
#include "source/calls/functions/call_frames.h"
#include "source/calls/functions/call_images.h"
#include "source/tracepoint/thread.h"

/* An address, and the object that has it. */
struct search {
	uint64_t address, offset;
	bool found;
	uint8_t build_id[WIRE_CALL_BUILD_ID_MAX];
	uint32_t build_id_bytes;
	char path[WIRE_CALL_PATH_MAX + 1];
};

static void take_note(struct search *search, const char *at, size_t bytes)
{
	const char *end = at + bytes;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
		const size_t name = (note->n_namesz + 3) & ~(size_t)3,
			     text = (note->n_descsz + 3) & ~(size_t)3;
		const char *id = at + sizeof(*note) + name;

		if (name > (size_t)(end - at) || text > (size_t)(end - at) ||
		    sizeof(*note) + name + text > (size_t)(end - at))
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(at + sizeof(*note), "GNU", 4) == 0 && note->n_descsz <= WIRE_CALL_BUILD_ID_MAX) {
			memcpy(search->build_id, id, note->n_descsz);
			search->build_id_bytes = note->n_descsz;
		}
		at = id + text;
	}
}

/* The name of the program itself is empty. A relative name is one of the directory in which it was loaded: most likely
 * the one of now. */
static void take_path(struct search *search, const char *name)
{
	struct nolibc_string path = { search->path, sizeof(search->path), 0, false };
	ssize_t bytes = 0;

	if (*name == '/') {
		nolibc_text(&path, name);
		return;
	}
	if (!*name)
		bytes = readlink("/proc/self/exe", search->path, sizeof(search->path) - 1);
	else if (getcwd(search->path, sizeof(search->path)))
		bytes = (ssize_t)strlen(search->path);
	search->path[bytes > 0 ? bytes : 0] = 0;
	if (!*name)
		return;
	path.used = bytes > 0 ? (size_t)bytes : 0;
	nolibc_text(&path, "/");
	nolibc_text(&path, name);
}

static int visit(struct dl_phdr_info *object, size_t bytes, void *data)
{
	struct search *search = data;

	(void)bytes;
	for (unsigned n = 0; n < object->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[n];
		const uint64_t begin = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || search->address - begin >= part->p_memsz)
			continue;
		search->found = true;
		search->offset = search->address - begin + part->p_offset;
		take_path(search, object->dlpi_name);
		for (unsigned m = 0; m < object->dlpi_phnum; m++)
			if (object->dlpi_phdr[m].p_type == PT_NOTE)
				take_note(search,
					  (const char *)object->dlpi_addr + object->dlpi_phdr[m].p_vaddr,
					  object->dlpi_phdr[m].p_memsz);
		return 1;
	}
	return 0;
}

bool call_image_find(uint64_t address, struct call_image *image)
{
	struct search search = { .address = address, .offset = address };
	struct session_call_image wanted = { .path = search.path, .build_id = search.build_id };
	struct stat status;

	dl_iterate_phdr(visit, &search);
	wanted.build_id_bytes = search.build_id_bytes;
	if (*search.path == '/' && stat(search.path, &status) == 0) {
		wanted.device = status.st_dev;
		wanted.inode = status.st_ino;
	}
	image->offset = search.offset;
	image->number = session_call_image(&tracepoint_session, &wanted, tracepoint_thread_self());
	return image->number != 0;
}

static int visit_function(struct dl_phdr_info *object, size_t bytes, void *data)
{
	struct search *search = data;

	(void)bytes;
	for (unsigned n = 0; n < object->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[n];

		if (part->p_type != PT_LOAD ||
		    search->address - (object->dlpi_addr + part->p_vaddr) >= part->p_memsz)
			continue;
		search->offset = call_frames_function(object, search->address);
		return 1;
	}
	return 0;
}

uint64_t call_image_function(uint64_t address)
{
	struct search search = { .address = address };

	dl_iterate_phdr(visit_function, &search);
	return search.offset ?: address;
}

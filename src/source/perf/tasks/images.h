/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Images contain code: files, the kernel and its modules, the vdso, memory without a file. Each is one entry of the table
 * of images, written when the first stack needs it.
 *
 * A mapping names a file but does not keep it. The process may end, the file may be replaced, the process' root may not be
 * visible from outside. So a file is opened when its first mapping is seen, and compared with the mapped one: by its
 * build id if the kernel records that, otherwise by device and inode. It stays open for the names, which are looked up when
 * the recording or its chunk ends. If very many files are open, those that no process has mapped any more are closed.
 */
#ifndef BURIN_SOURCE_PERF_TASKS_IMAGES_H
#define BURIN_SOURCE_PERF_TASKS_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/table_writer.h"
#include "image/elf/image.h"
#include "image/unwind/unwind_table.h"
#include "source/perf/tasks/budget.h"
#include "source/perf/rings/perf_record.h"
#include "wire/wire_profile.h"

enum {
	IMAGES_TABLES_MAX = 16 << 20,
	IMAGES_PERIODS = 12,
	IMAGES_KEPT = 1 << 12,
	IMAGES_IDLE = 64,
	IMAGES_PENDING = 4, /* rounds in which a mapping that was found may wait for its turn, and one more */
};

struct images;

struct sample_image {
	enum wire_image kind;
	unsigned char build_id[IMAGE_BUILD_ID_MAX];
	unsigned build_id_bytes;
	uint32_t major, minor; /* 0, 0: unknown, as are inode and generation */
	uint64_t inode, generation;
	uint64_t bytes; /* of the file; 0: unknown */
	char *path;
	uint32_t process; /* the address space that it belongs to; 0: all */
	uint32_t number;  /* in the table; 0: not yet */
	int fd;		  /* the mapped file; -1: not available, or `elf` has it */
	struct image elf; /* if ->opened */
	bool opened, refused;
	bool deferred;	/* it is opened when the next mapping is seen */
	unsigned tries; /* that did not find the file; the next mapping may be of a process that lives */
	bool in_memory; /* a file by kind, but in no file system (memfd_create(2)) */
	struct unwind_table *tables;	/* set if ->unwound; may be NULL */
	enum wire_truncation no_tables; /* why there are none */
	bool unwound;
	bool judged, go;	       /* whether it is Go's code, if ->judged */
	uint64_t used;		       /* images->period in which the tables were last used */
	uint64_t seen;		       /* the same of a mapping */
	uint64_t round;		       /* images->round then */
	uint64_t chunk;		       /* images->chunk in which it last had samples, if ->number */
	uint32_t mappings;	       /* of all address spaces */
	uint32_t holders;	       /* places that name it: images_set() */
	struct budget_payment payment; /* for the open file, if ->paid */
	struct budget_payment own;     /* for the image itself */
	bool paid;
	struct images *of;	    /* all images */
	struct sample_image *other; /* the image with this file's build id, to be used instead; NULL: none */
};

struct images {
	struct sample_image **all; /* by number in `places` - 1 */
	size_t count, room;
	struct hash_table places;
	struct sample_image **numbered; /* by number in the table - 1; NULL: it was freed */
	size_t numbered_count, numbered_room;
	struct sample_image **tabled; /* those with unwind tables */
	size_t tabled_count, tabled_room;
	struct table_writer *table;
	uint64_t
		table_bytes; /* memory of the unwind tables of all images, at the last images_trim() or later */
	uint64_t tables_max; /* bytes; IMAGES_TABLES_MAX, except in tests */
	size_t kept;	     /* so many stay at least; IMAGES_KEPT, except in tests */
	uint64_t period;     /* number of calls of images_trim() */
	uint64_t round;	     /* number of calls of images_round() */
	size_t opened;	     /* files since idle ones were last sought */
	uint64_t chunk;	 /* number of the trace that is written, among those of a recording; the caller's */
	uint64_t needed; /* the first one whose names will be sought; UINT64_MAX: none; the caller's */
	uint64_t unreadable;	   /* mapped files that could not be opened */
	struct unwind_meter meter; /* of all tables */
	struct budget budget;
};

/* images_init - @table: the caller's; must live as long as @images. */
void images_init(struct images *images, struct table_writer *table);

/*
 * images_find - find the image of a mapping. The first time, the file is opened.
 * @pid: the process with the mapping; 0: unknown
 * Return: the image, which lives as long as a mapping or a holder names it, and for IMAGES_PERIODS periods after this call;
 * NULL: no memory, or the allowance of images is used up.
 */
struct sample_image *images_find(struct images *images, uint32_t pid, const struct record_map *map);

/* images_named - find an image without a file: the kernel, a module, generated code. @path: may be NULL. Return: as images_find(). */
struct sample_image *images_named(struct images *images, enum wire_image kind, const char *path,
				  uint32_t process, const unsigned char *build_id, unsigned build_id_bytes);

/* images_set - let a place hold another image, or none (NULL). What @place held before may be freed later. */
void images_set(struct sample_image **place, struct sample_image *image);

/* images_pin - replace the file that names an image's code. @fd: the caller's; it is duplicated */
void images_pin(struct sample_image *image, int fd);

/* images_number - the image's entry in the table, which is written if there is none. Return: 0: write error. */
uint32_t images_number(struct images *images, struct sample_image *image);

/* images_elf - the file, opened as ELF. Return: NULL: it cannot be read. */
const struct image *images_elf(struct sample_image *image);

/* images_is_go - whether an image is Go's code, which keeps frame pointers. */
bool images_is_go(struct sample_image *image);

/*
 * images_tables - the unwind tables, opened on first use.
 * Return: NULL: there are none, and ->no_tables says why; or the meter did not permit to open them.
 */
struct unwind_table *images_tables(struct sample_image *image);

/*
 * images_trim - free the unwind tables that were used longest ago, if all together take more than ->tables_max bytes.
 * Those used during the last IMAGES_PERIODS calls stay, so that a table is not opened again and again. If more than a quarter
 * of the files that may be open are, close those that no process has mapped, if the last mapping was seen so long ago, too:
 * first those without samples, and, above three eighths, others. Above ->kept images, free those that no mapping and no
 * holder names, either, and whose file no name of a sample will need. Call it once in some seconds.
 */
void images_trim(struct images *images);

/*
 * images_round - close the files that are idle, if there are more than IMAGES_IDLE: no process has mapped them, and no name
 * in a trace from ->needed on is theirs. Those that were mapped last stay. Call it once a round.
 */
void images_round(struct images *images);

/* images_sampled - an image has samples in the trace that is written, by its number in the table; 0: none. */
void images_sampled(struct images *images, uint32_t number);

/* images_file - the descriptor of the file of an entry in the table; owned by @images. Return: -1: there is none. */
int images_file(const struct images *images, uint32_t number);

/* images_release - free the unwind tables, which nothing needs once all samples are attributed. */
void images_release(struct images *images);

void images_free(struct images *images);

#endif

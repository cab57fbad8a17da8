/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tables of a trace's samples (docs/format.md, "Samples").
 *
 * A sample is a record of an event `sample.*`. Its field `context` is the number of an entry in the table of contexts,
 * which refers to a task and a stack. A table is a file of `.burin/` that only grows: a struct wire_table, then blocks,
 * each a struct wire_block and its bytes. A block has whole entries; entries are numbered from 1, and 0 means none. An
 * entry is a sequence of numbers (unsigned LEB128) and texts (a number of bytes, then the bytes, without NUL).
 *
 *	images    kind, size, build id (text), path (text)
 *	tasks     tid, pid, since, image, name (text), path (text)
 *	stacks    up, image, offset
 *	contexts  task, stack
 *	symbols   enum wire_symbols, then
 *	          WIRE_SYMBOLS_TEXT: text
 *	          WIRE_SYMBOLS_LOCATION: image, offset, begin, size, frames, then for each: name, file, line
 *	          WIRE_SYMBOLS_IMAGE: image, state, hint (text)
 *	          WIRE_SYMBOLS_FUNCTION: image, begin, size, name
 *
 * In the table of symbols, texts have their own numbers, from 1. Name and file are such numbers.
 */
#ifndef BURIN_WIRE_WIRE_PROFILE_H
#define BURIN_WIRE_WIRE_PROFILE_H

#include <assert.h>
#include <stdint.h>

enum {
	WIRE_TABLE_IMAGES = 0x474d4942,	  /* "BIMG" */
	WIRE_TABLE_TASKS = 0x4b534254,	  /* "TBSK" */
	WIRE_TABLE_STACKS = 0x4b545342,	  /* "BSTK" */
	WIRE_TABLE_CONTEXTS = 0x54505342, /* "BSPT" */
	WIRE_TABLE_SYMBOLS = 0x4d595342,  /* "BSYM" */
	WIRE_TABLE_OPEN = 0x4e504f42,	  /* "BOPN" */
	WIRE_TABLE_VALUES = 0x4c415642,	  /* "BVAL" */
	WIRE_TABLE_COUNTS = 0x544e4342,	  /* "BCNT" */
	WIRE_TABLE_VERSION = 1,

	WIRE_BLOCK_MAX = 16 << 20, /* bytes of a block, uncompressed */
	WIRE_TEXT_MAX = 65535,	   /* of a text */
	WIRE_DEPTH_MAX = 1024,	   /* frames of a stack; deeper stacks lose their outermost frames */

	WIRE_SAMPLES_INSTANCE = 1 << 24, /* stream_instance of the samples of CPU n: this + n */
};

struct wire_table {
	uint32_t magic; /* WIRE_TABLE_* */
	uint32_t version;
	uint64_t reserved;
};

struct wire_block {
	uint32_t bytes; /* of the entries */
	uint32_t
		stored; /* bytes that follow; fewer than `bytes`: a zstd frame; equal: the entries themselves */
	uint32_t entries; /* in the block */
	uint32_t columns; /* numbers of an entry, if they are stored by columns; 0: by entries */
};

/*
 * Entries that have only numbers may be stored by columns: all first numbers, then all second ones. Each is stored as
 * the highest number before it in its column (0 for the first) minus the number, folded (base/leb128.h). This is short,
 * since most entries refer to the latest entries of a growing table.
 */

/* Kinds of images. */
enum wire_image {
	WIRE_IMAGE_FILE = 1, /* offset: in the file */
	WIRE_IMAGE_KERNEL,   /* offset: from the address of _text, so that it is the same in every boot */
	WIRE_IMAGE_MODULE,   /* offset: from the module's base; path: its name in brackets */
	WIRE_IMAGE_VDSO,     /* offset: in its ELF image */
	WIRE_IMAGE_ANONYMOUS, /* offset: the address; path: the kernel's name of the memory, WIRE_IMAGE_MADE, or "" */
	WIRE_IMAGE_JIT,	    /* offset: the address; a map of the process (`perf-PID.map`, jitdump) names it */
	WIRE_IMAGE_JITDUMP, /* offset: in the jitdump, which has the code */
	WIRE_IMAGES
};

/* The path of anonymous memory with code that was made at run time and has no map; the second is followed by the program's name. */
#define WIRE_IMAGE_MADE	   "[JIT]"
#define WIRE_IMAGE_MADE_OF WIRE_IMAGE_MADE " of "

/*
 * A stack is identified by its innermost frame. An entry is a location, and its caller is `up` entries before it; if up
 * is the entry's own number, it has no caller. Image 0 is the mark of a truncation, and its offset is the cause (enum
 * wire_truncation). Frames are return addresses minus one, except those of interrupted code: the innermost, the user's
 * innermost below the kernel's, and code that a signal interrupted.
 */
enum wire_truncation {
	WIRE_TRUNCATION_NONE,
	WIRE_TRUNCATION_DEPTH,	/* deeper than WIRE_DEPTH_MAX, or than the kernel's limit */
	WIRE_TRUNCATION_STACK,	/* the copied part of the stack ended */
	WIRE_TRUNCATION_TABLES, /* unwind information is missing or broken */
	WIRE_TRUNCATION_MEMORY, /* an address in no mapping */
	WIRE_TRUNCATION_IMAGE,	/* the image cannot be read */
	WIRE_TRUNCATION_RING,	/* the kernel's ring had no room for the stack: the stack is only this mark */
	WIRE_TRUNCATIONS
};

/* Why a sample is not in the trace; the order of `.burin/profile`. */
enum wire_sample {
	WIRE_SAMPLE_KEPT,
	WIRE_SAMPLE_RING,
	WIRE_SAMPLE_LATE,
	WIRE_SAMPLE_TASK,
	WIRE_SAMPLE_MAPPING,
	WIRE_SAMPLE_CONTEXT,
	WIRE_SAMPLE_DAMAGED,
	WIRE_SAMPLE_WRITE,
	WIRE_SAMPLE_LOSSES
};

enum wire_symbols {
	WIRE_SYMBOLS_TEXT = 1,
	WIRE_SYMBOLS_LOCATION, /* of one (image, offset): frames[0] is the innermost, inlined into the next, ... */
	WIRE_SYMBOLS_IMAGE,
	WIRE_SYMBOLS_FUNCTION, /* the name for all locations in it that have no WIRE_SYMBOLS_LOCATION entry */
};

/* The names that were found for an image; `hint` is the package or file that would supply the rest. */
enum wire_symbols_state {
	WIRE_SYMBOLS_NONE,    /* no names at all */
	WIRE_SYMBOLS_DYNAMIC, /* exported ones only */
	WIRE_SYMBOLS_TABLE,   /* functions, no lines */
	WIRE_SYMBOLS_LINES,   /* functions, lines and inlined frames */
	WIRE_SYMBOLS_STATES
};

static_assert(sizeof(struct wire_table) == 16, "wire_table");
static_assert(sizeof(struct wire_block) == 16, "wire_block");

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a trace knows of its samples (docs/format.md, "Samples").
 *
 * A sample is a record of an event `sample.*`; its field `spot` is the number of an entry in a table, and that leads to
 * others: who ran, and where. A table is a file of `.burin/` that only grows: a struct wire_table, then blocks, each a struct wire_block
 * and its bytes. A block holds whole entries; entries are numbered from 1, 0 stands for none. An entry is a sequence
 * of numbers (unsigned LEB128) and texts (a number of bytes, then the bytes, without NUL).
 *
 *	images   kind, size, build id (text), path (text)
 *	tasks    tid, pid, since, image, name (text), path (text)
 *	stacks   up, image, offset
 *	spots    task, stack
 *	symbols  what: WIRE_SYMBOLS_TEXT: text
 *	               WIRE_SYMBOLS_PLACE: image, offset, begin, size, frames, then for each: name, file, line
 *	               WIRE_SYMBOLS_IMAGE: image, state, remedy (text)
 *	               WIRE_SYMBOLS_FUNCTION: image, begin, size, name
 *
 * In a table of symbols, texts are numbered among themselves from 1, and so name and file refer to them.
 */
#ifndef BURIN_WIRE_PROFILE_H
#define BURIN_WIRE_PROFILE_H

#include <assert.h>
#include <stdint.h>

enum {
	WIRE_TABLE_IMAGES = 0x474d4942,	 /* "BIMG" */
	WIRE_TABLE_TASKS = 0x4b534254,	 /* "TBSK" */
	WIRE_TABLE_STACKS = 0x4b545342,	 /* "BSTK" */
	WIRE_TABLE_SPOTS = 0x54505342,	 /* "BSPT" */
	WIRE_TABLE_SYMBOLS = 0x4d595342, /* "BSYM" */
	WIRE_TABLE_VERSION = 1,

	WIRE_BLOCK_MAX = 16 << 20, /* bytes of a block, uncompressed */
	WIRE_TEXT_MAX = 65535,	   /* of a text */
	WIRE_DEPTH_MAX = 1024,	   /* frames of a stack; the outermost of deeper ones are cut */

	WIRE_SAMPLES_INSTANCE = 1 << 24, /* stream_instance of the samples of CPU n: this + n */
};

struct wire_table {
	uint32_t magic; /* WIRE_TABLE_* */
	uint32_t version;
	uint64_t reserved;
};

struct wire_block {
	uint32_t bytes;	  /* of the entries */
	uint32_t stored;  /* that follow: fewer: a zstd frame; as many: the entries themselves */
	uint32_t entries; /* in the block */
	uint32_t columns; /* 0: the entries one after the other */
};

/*
 * Entries of a few numbers and nothing else may lie column by column: all first numbers, then all second ones. Each is the
 * highest before it in its column (0 for the first) less the number, folded (base/leb128.h): what refers to entries of
 * tables that grow mostly refers to the latest.
 */

/* What code lies in. */
enum wire_image {
	WIRE_IMAGE_FILE = 1, /* offset: in the file */
	WIRE_IMAGE_KERNEL, /* offset: from the address of _text, so that it holds for any boot of that kernel */
	WIRE_IMAGE_MODULE,    /* offset: from the module's base; path: its name in brackets */
	WIRE_IMAGE_VDSO,      /* offset: in its ELF image */
	WIRE_IMAGE_ANONYMOUS, /* offset: the address; path: what the kernel calls the memory, or "" */
	WIRE_IMAGE_JIT,	    /* offset: the address; a map of the process (`perf-PID.map`, jitdump) names it */
	WIRE_IMAGE_JITDUMP, /* offset: in the jitdump, which has the code */
	WIRE_IMAGES
};

/*
 * A stack is its innermost frame: each entry is a place and, `up` entries before it, its caller; up == its own
 * number: it has none. Image 0 is a mark, whose offset tells why nothing more is known (enum wire_cut). Frames are
 * return addresses minus one, but for those at which something was interrupted: the innermost, the user's innermost
 * below the kernel's, and what a signal interrupted.
 */
enum wire_cut {
	WIRE_CUT_NONE,
	WIRE_CUT_DEPTH,	 /* deeper than WIRE_DEPTH_MAX, or than the kernel gives */
	WIRE_CUT_STACK,	 /* the copy of the stack ended */
	WIRE_CUT_TABLES, /* code without unwind information, or one that is broken */
	WIRE_CUT_MEMORY, /* an address in no mapping */
	WIRE_CUT_IMAGE,	 /* the image cannot be read */
	WIRE_CUT_RING,	 /* the kernel's ring had no room for the stack: the mark is all of it */
	WIRE_CUTS
};

enum wire_symbols {
	WIRE_SYMBOLS_TEXT = 1,
	WIRE_SYMBOLS_PLACE, /* of one (image, offset): frames[0] is the innermost, inlined into the next, ... */
	WIRE_SYMBOLS_IMAGE,
	WIRE_SYMBOLS_FUNCTION, /* of all places in it of which no more is known, and that have no entry of their own */
};

/* What is known of an image's names; `remedy` says what would supply the rest: a package or a file. */
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

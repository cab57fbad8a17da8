/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The calls area of a session (docs/format.md, "Calls"): which functions there are, and which calls are open.
 *
 *	header | images | text | functions | index | switches | counts | specs | spec text | segments
 *
 * A call is one record, written at its end: an event WIRE_CALL_EVENT with the number of the function, the lower 48 bits of
 * the clock at its begin, and its depth. Calls that have not ended are in the stacks.
 *
 * Functions are numbered from 1. The number is the index in the functions, switches and counts, so their first elements are
 * not used. A function is an image and the offset of its first instruction there; processes that execute one image share
 * its functions. An entry never changes once it is counted. The index finds a function by image and offset: open
 * addressing with linear probing, 0 is free.
 *
 * Stacks. Each stack that calls run on, usually one of a thread, has segments of WIRE_CALL_SEGMENT bytes. The first slot of
 * a segment is its head, the others are frames, one for an open call each. A frame is open while its `start` is not 0: a
 * call stores the start last, and its end clears it after its record was committed. So a call that is both in a ring and in
 * a stack has ended.
 *
 * Arguments. The arguments of open calls lie in segments of their own: the number of their stack is WIRE_CALL_VALUES_STACK, and
 * they have WIRE_CALL_VALUES blocks instead of frames. A block names its frame, and has the same start.
 */
#ifndef BURIN_WIRE_WIRE_CALL_H
#define BURIN_WIRE_WIRE_CALL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WIRE_CALL_EVENT	 "burin.call"
#define WIRE_CALL_FORMAT "function=%u start=%u start_high=%hu depth=%hu"

/*
 * A call with arguments is a record of an event of its own: WIRE_CALL_PREFIX and the function's name. Its format begins with
 * WIRE_CALL_FORMAT and a space; the arguments follow. If the result was asked for, WIRE_CALL_RESULT_FORMAT and its
 * conversion end it: `returned` is 0 if the call ended without one.
 */
#define WIRE_CALL_PREFIX	WIRE_CALL_EVENT "."
#define WIRE_CALL_RESULT_FORMAT " returned=%d retval="

/* A pointer to a text that cannot be read is recorded as WIRE_NULL and the address, "0x10". */

/* A thread continues on another stack (swapcontext and the like): its calls that end later lie on it. A program that never
 * does has no such event. */
#define WIRE_CALL_STACK_EVENT  "burin.call_stack"
#define WIRE_CALL_STACK_FORMAT "from=%u to=%u" /* numbers of stacks */

/* Images of guests: memory of a machine in an emulator. The second is followed by the address space in hexadecimal, if the task is known by a
 * blank and the name of its program, and by "]". */
#define WIRE_GUEST_KERNEL "[guest kernel]"
#define WIRE_GUEST_USER	  "[guest "

/* A virtual CPU of a guest continues another task. @from, @to: ids of threads in the guest; the record's tid is that of the
 * stack in its kernel. */
#define WIRE_GUEST_SWITCH_EVENT	 "burin.guest_switch"
#define WIRE_GUEST_SWITCH_FORMAT "vcpu=%u from=%u to=%u"

enum {
	WIRE_GUEST_TID =
		5000000, /* the number of a guest's first stack; the kernel's thread ids are smaller */
	WIRE_GUEST_VCPU = 9000000, /* plus (vCPU + 1) * 100 plus its privilege level: a vCPU as a thread */
	WIRE_GUEST_VCPU_STEP = 100,
	WIRE_GUEST_PID =
		10000000, /* plus the id of a guest's process: its pid; ids of processes are below 4194304 */
	WIRE_GUEST_STEP = 2 << 20, /* bytes: KASLR moves a guest's kernel by a multiple of that */
};

enum {
	WIRE_CALL_IMAGES_MAX = 4096,
	WIRE_CALL_TEXT = 1 << 20,      /* bytes of the paths of images */
	WIRE_CALL_PATH_MAX = 4095,     /* of a path, without its NUL */
	WIRE_CALL_BUILD_ID_MAX = 20,   /* of a build id, bytes */
	WIRE_CALL_FUNCTIONS = 1 << 18, /* default size of the table */
	WIRE_CALL_FUNCTIONS_MAX = 1 << 22,
	WIRE_CALL_SEGMENT = 4096,     /* bytes */
	WIRE_CALL_FRAMES = 127,	      /* of a segment */
	WIRE_CALL_SEGMENTS = 1 << 14, /* default: two million open calls */
	WIRE_CALL_SEGMENTS_MAX = 1 << 20,
	WIRE_CALL_RULES = 1 << 16, /* bytes of the rules */
	WIRE_CALL_DESCRIBED_MAX = 256,
	WIRE_CALL_KNOWN_MAX = 4096, /* of a SPEC, or of the path of a source, with its NUL */
	WIRE_CALL_SPEC_TEXT = 16,   /* bytes of the SPECs, for each function that there is room for */
	WIRE_CALL_START_BITS = 48,
	WIRE_CALL_VALUES = 4, /* blocks of arguments in a segment */
	WIRE_CALL_VALUES_BYTES = 992,
};

/* A segment with blocks of arguments. It belongs to the process; its thread may have ended. */
#define WIRE_CALL_VALUES_STACK UINT32_MAX

/* What a call of a function does, a byte: its switch. */
enum wire_call_switch {
	WIRE_CALL_OFF,
	WIRE_CALL_ON,	 /* one record */
	WIRE_CALL_COUNT, /* it is only counted */
	WIRE_CALL_SLOW,	 /* one record, if depth_max and below permit it */
	WIRE_CALL_ROOT,	 /* the same; calls below it are recorded, too, if `below` is set */
	WIRE_CALL_SWITCHES
};

/* A flag of a switch that is on: arguments are recorded (WIRE_CALL_PREFIX). */
#define WIRE_CALL_ARGUMENTS 8u

/* Which calls are recorded. 0: of functions with hooks. */
enum wire_call_source {
	WIRE_CALL_LIBRARIES = 1, /* calls that a program makes to functions of libraries */
	WIRE_CALL_NESTED = 2,	 /* and that libraries make to those of other libraries */
	WIRE_CALL_NO_HOOKS = 4,	 /* only these */
};

/* A flag of a frame: its record is being committed. The call may be open, or may have ended. */
#define WIRE_CALL_ENDING 0x80000000u

/* Not 0: the call's arguments will be in its record. The other flags are private. */
#define WIRE_CALL_WITH_VALUES 0x7fffff00u

/* Why a call has no record. Records that do not fit a ring are counted there (wire/wire_packet.h). */
enum wire_call_loss {
	WIRE_CALL_LOST_FUNCTION,  /* there was no room for another function or image */
	WIRE_CALL_LOST_STACK,	  /* there was no memory for another segment */
	WIRE_CALL_LOST_PATCH,	  /* functions whose code could not be changed: all their calls */
	WIRE_CALL_LOST_OPEN,	  /* open calls of dead processes, whose segments were needed */
	WIRE_CALL_LOST_ARGUMENTS, /* the call has a record, but there was no room for its arguments or event */
	WIRE_CALL_LOSSES
};

struct wire_call_image {
	uint32_t path; /* offset in the text; ends in NUL; "": memory without a file */
	uint32_t build_id_bytes;
	uint8_t build_id[WIRE_CALL_BUILD_ID_MAX];
	uint32_t reserved;
	uint64_t device, inode; /* of its file; 0: none */
};

struct wire_call_function {
	uint32_t image;	 /* from 1 */
	uint32_t size;	 /* bytes of its code; 0: unknown */
	uint64_t offset; /* in the image's file; without a file the address */
};

/*
 * Facts of a function from the debug information of its file: the arguments, in the form of `burin record --args`, and the
 * source file. Both are offsets in the SPECs' text, which begins with a NUL; they end in NUL. 0: unknown.
 */
struct wire_call_spec {
	uint64_t offset; /* of the function, in the file */
	uint32_t text, source;
};

/* A file that was read for its debug information, and its SPECs: in the order of the functions' offsets. */
struct wire_call_described {
	uint64_t device, inode;
	uint32_t first, count;
};

/* The head of a segment: its first 32 bytes. */
struct wire_call_segment {
	uint32_t tid; /* of the thread that the stack belongs to; 0: the segment is free */
	uint32_t pid;
	uint32_t stack; /* number of the stack in the session, from 1 */
	uint32_t depth; /* of the first frame: open calls of this stack in earlier segments */
	uint64_t next;	/* number of the following segment, from 1; of a free one: the next free; 0: none */
	uint64_t previous;
};

struct wire_call_frame {
	uint64_t start;	   /* clock; 0: the frame is free */
	uint32_t function; /* 0: not recorded */
	uint32_t flags;	   /* WIRE_CALL_ENDING, WIRE_CALL_WITH_VALUES; others are private */
	uint64_t match;	   /* private: what identifies the call at its end */
	uint64_t sp;	   /* private: the stack pointer */
};

/*
 * The arguments of an open call. The start is stored last, and cleared before the block changes: it is used while
 * the frame has the same start.
 */
struct wire_call_values {
	uint64_t start;	       /* of the frame; 0: the block is free */
	uint32_t segment;      /* of the frame, from 1 */
	uint16_t slot;	       /* in the segment */
	uint16_t event;	       /* id */
	uint16_t bytes;	       /* of the payload, as the event has it behind the fields of a call */
	uint16_t result_bytes; /* that its result has behind it */
	uint32_t reserved;
	uint8_t payload[WIRE_CALL_VALUES_BYTES];
};

struct wire_calls {
	uint64_t lock;		    /* for the tables and segments, as wire_ring.lock */
	uint32_t images, functions; /* counts */
	uint32_t text_bytes;	    /* used; text begins with one NUL */
	uint32_t segments;	    /* that were ever used */
	uint32_t free;		    /* the first free one; 0: none */
	uint32_t stacks;	    /* numbers that were given */
	uint32_t generation; /* changes of rules and switches from outside, twice; odd: one is going on */
	uint32_t sources;    /* enum wire_call_source: bits */
	uint64_t lost[WIRE_CALL_LOSSES];
	uint64_t min_ticks; /* the shortest call that is recorded; 0: every one */
	uint32_t depth_max; /* a call is recorded if fewer are open on its stack; 0: every one */
	uint32_t below;	    /* not 0: a call is recorded only below one of a function with WIRE_CALL_ROOT */
	uint32_t described; /* files with SPECs: a recorder appends them, and stores their count last */
	uint32_t snapshots_wanted;  /* by a guest: it waits until as many are written, */
	uint32_t snapshots_written; /* stored by the recorder */
	uint32_t guest_moved;	    /* by KASLR, in WIRE_GUEST_STEP, plus 1; 0: it is not known */
	uint64_t guest_clock;	    /* the time of a session with WIRE_CLOCK_GUEST */
	/*
	 * Files that are loaded later. A process that has registered an image waits (futex) until `known_done` has reached
	 * its number: the image's facts are in the tables then, if it has any.
	 */
	uint32_t known_reader; /* not 0: a recorder reads them */
	uint32_t known_wanted; /* the highest number of an image that a process has waited for */
	uint32_t known_done;   /* the recorder has read the images up to this number */
	uint32_t guest_waits;  /* not 0: calls of a guest that begin now are not recorded */
	struct wire_call_described described_files[WIRE_CALL_DESCRIBED_MAX];
	/*
	 * The state of each function: strings, each ends in NUL, an empty one ends the list. Without a rule all functions
	 * are on; otherwise the last match counts, and functions without one are off. A rule is a sign, a kind, a colon and
	 * a text. '+': on, '-': off, '#': counted, '^': WIRE_CALL_ROOT. Kinds of texts:
	 *
	 *	f  a glob for the function's name
	 *	i  a glob for the image: for its path if it contains a slash, otherwise for the last part
	 *	s  a glob for the source file: for its path or the last parts of it
	 *	r  hexadecimal ranges of offsets in the image, a space, and a glob as for `i`: "1000-1040,2a00-2a10 libx.so"
	 *
	 * The sign '=' chooses no functions, but arguments: the next string is '>' and what to record of the functions that
	 * match, as `burin record --args` takes it. The last match counts. '>' alone: the function's SPEC by its debug
	 * information, if it has one.
	 *
	 * While `generation` is odd, a process is changing rules and switches.
	 */
	char rules[WIRE_CALL_RULES];
};

static_assert(sizeof(struct wire_call_image) == 48, "wire_call_image");
static_assert(sizeof(struct wire_call_function) == 16, "wire_call_function");
static_assert(sizeof(struct wire_call_spec) == 16, "wire_call_spec");
static_assert(sizeof(struct wire_call_described) == 24, "wire_call_described");
static_assert(offsetof(struct wire_calls, rules) == 6280, "wire_calls.rules");
static_assert(sizeof(struct wire_call_segment) == 32, "wire_call_segment");
static_assert(sizeof(struct wire_call_frame) == 32, "wire_call_frame");
static_assert(sizeof(struct wire_call_segment) + WIRE_CALL_VALUES * sizeof(struct wire_call_values) ==
		      WIRE_CALL_SEGMENT,
	      "a segment's blocks");
static_assert((WIRE_CALL_FRAMES + 1) * sizeof(struct wire_call_frame) == WIRE_CALL_SEGMENT,
	      "a segment's slots");

/* A frame gets its function, and no flags, by one store. */
static inline void wire_call_frame_begin(struct wire_call_frame *frame, uint32_t function)
{
	const uint64_t both = function;

	memcpy(&frame->function, &both, sizeof(both)); /* little-endian */
}

/* The begin of a call. @low, @high: of its record; @end: the record's time */
static inline uint64_t wire_call_start(uint64_t end, uint32_t low, uint16_t high)
{
	const uint64_t mask = (UINT64_C(1) << WIRE_CALL_START_BITS) - 1;

	return end - ((end - ((uint64_t)high << 32 | low)) & mask);
}

#endif

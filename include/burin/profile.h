/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The samples of a trace: who ran, where, and for how much of the time. Link with -lburin-read (pkg-config
 * burin-read).
 *
 *	struct burin_profile *profile;
 *	struct burin_sample sample;
 *	struct burin_stack stack;
 *	struct burin_place place;
 *
 *	burin_profile_open(&profile, trace);
 *	while (burin_cursor_next(cursor, &record) > 0) {
 *		if (burin_profile_sample(profile, record, &sample))
 *			continue;
 *		for (uint32_t n = sample.stack; !burin_profile_stack(profile, n, &stack); n = stack.caller)
 *			if (!burin_profile_place(profile, stack.place, &place))
 *				...
 *	}
 *	burin_profile_close(profile);
 *
 * A sample is a record of an event `sample.*`. It refers to entries of tables, which are numbered from 1, 0
 * standing for none: tasks, stacks, images; and the stacks refer to places. A place is one address in one
 * image; as each is there once, whatever a caller wants to know of it can be found out once and kept in an array.
 *
 * What burin/read.h promises holds here too: errors are 0 or negative; a fault of a table is reported to the
 * trace's callback and counted among its faults, what cannot be read is left out; what is returned by pointer
 * belongs to the profile; a profile does not change, any number of threads may use it.
 */
#ifndef BURIN_PROFILE_H
#define BURIN_PROFILE_H

#include <burin/read.h>

#ifdef __cplusplus
extern "C" {
#endif

struct burin_profile;

/*
 * burin_profile_open - read the tables that the samples of a trace refer to.
 * @profile: receives the profile; NULL on failure
 * @trace: to stay open while the profile is used
 *
 * Context: allocates; reads files. Only this function needs time: about 0.1 s for a million stacks.
 * Return: 0; -ENODATA if the trace has no samples; -ENOMEM.
 */
BURIN_READ_API int burin_profile_open(struct burin_profile **profile, const struct burin_trace *trace);

/* burin_profile_close - give back a profile. NULL is allowed. */
BURIN_READ_API void burin_profile_close(struct burin_profile *profile);

/* ---- How the samples came about ---- */

/*
 * burin_profile_value - a value of `.burin/profile`.
 * @key: "frequency", "received", "lost.ring", ... as listed in docs/format.md
 *
 * Return: the first value of the key, NUL-terminated, any bytes; NULL if it is not there.
 */
BURIN_READ_API const char *burin_profile_value(const struct burin_profile *profile, const char *key);

/* burin_profile_number - a value as a number; 0 if it is not there or none. */
BURIN_READ_API uint64_t burin_profile_number(const struct burin_profile *profile, const char *key);

/* burin_profile_value_at - the n-th line (from 0) of `.burin/profile`; the key "limit" may come several times:
 * what was not permitted, and what to do. Return: 0, or -ENOENT behind the last. */
BURIN_READ_API int burin_profile_value_at(const struct burin_profile *profile, unsigned n, const char **key,
					  const char **value);

/* ---- Samples ---- */

struct burin_sample {
	uint32_t spot;	 /* who ran, and where, in one number; 0: unknown */
	uint32_t task;	 /* who ran */
	uint32_t stack;	 /* the innermost frame; 0: no stack was asked for */
	uint64_t weight; /* what it stands for, in the unit of its event */
};

/* burin_profile_is_sample - whether the records of an event are samples. */
BURIN_READ_API int burin_profile_is_sample(const struct burin_profile *profile,
					   const struct burin_event *event);

/* burin_profile_unit - what the weights of an event's samples are: "ns", "events"; "samples" if nobody told. */
BURIN_READ_API const char *burin_profile_unit(const struct burin_profile *profile,
					      const struct burin_event *event);

/* burin_profile_sample - the sample that a record is. Return: 0; -EINVAL if it is none. */
BURIN_READ_API int burin_profile_sample(const struct burin_profile *profile,
					const struct burin_record *record, struct burin_sample *sample);

/* burin_profile_spot - what a spot stands for; several may stand for the same. Return: 0; -ENOENT, and both are 0. */
BURIN_READ_API int burin_profile_spot(const struct burin_profile *profile, uint32_t number, uint32_t *task,
				      uint32_t *stack);

/* ---- Tasks ---- */

/* A thread, for as long as it was called so and ran that program. */
struct burin_task {
	uint32_t tid, pid;
	uint64_t since;	  /* ticks */
	uint32_t image;	  /* of the program; 0: unknown */
	const char *name; /* of the thread, any bytes */
	const char *path; /* of the program, any bytes; "" if unknown */
};

/* burin_profile_spots, ..._tasks, ..._images, ..._stacks, ..._places - the largest number. */
BURIN_READ_API uint32_t burin_profile_spots(const struct burin_profile *profile);
BURIN_READ_API uint32_t burin_profile_tasks(const struct burin_profile *profile);
BURIN_READ_API uint32_t burin_profile_images(const struct burin_profile *profile);
BURIN_READ_API uint32_t burin_profile_stacks(const struct burin_profile *profile);
BURIN_READ_API uint32_t burin_profile_places(const struct burin_profile *profile);

/* burin_profile_task - a task by its number; NULL if there is none, or if its entry cannot be read. */
BURIN_READ_API const struct burin_task *burin_profile_task(const struct burin_profile *profile,
							   uint32_t number);

/* ---- Images: what code lies in ---- */

/* Kinds of images, and what the offsets of their places mean. New ones may be added at the end. */
enum burin_image_kind {
	BURIN_IMAGE_FILE = 1,  /* in the file */
	BURIN_IMAGE_KERNEL,    /* from _text */
	BURIN_IMAGE_MODULE,    /* of the kernel: from its base */
	BURIN_IMAGE_VDSO,      /* in its ELF image */
	BURIN_IMAGE_ANONYMOUS, /* the address */
	BURIN_IMAGE_JIT,       /* the address */
	BURIN_IMAGE_JITDUMP,   /* in the jitdump, which has the code */
};

/* What is known of an image's names. */
enum burin_names_state {
	BURIN_NAMES_NONE,
	BURIN_NAMES_EXPORTED,  /* those of exported functions only */
	BURIN_NAMES_FUNCTIONS, /* no lines */
	BURIN_NAMES_LINES,     /* functions, lines and inlined functions */
	BURIN_NAMES_UNTOLD,    /* the trace does not say: it has not been symbolised */
};

struct burin_image {
	unsigned kind; /* enum burin_image_kind */
	uint64_t size; /* of the file, bytes */
	const unsigned char *build_id;
	size_t build_id_bytes;
	const char *path; /* as the process saw it, any bytes; of a module its name in brackets */
	unsigned names;	  /* enum burin_names_state */
	const char
		*remedy; /* the package or file that would supply what is missing; "" if nothing or unknown */
};

/* burin_profile_image - an image by its number; NULL if there is none, or if its entry cannot be read. */
BURIN_READ_API const struct burin_image *burin_profile_image(const struct burin_profile *profile,
							     uint32_t number);

/* burin_image_name - an image in a word: "libc.so.6", "[kernel]", "[vdso]", "[anon]"; any bytes. NULL is
 * allowed: "[unknown]". */
BURIN_READ_API const char *burin_image_name(const struct burin_image *image);

/* ---- Stacks and places ---- */

/* Why a stack ends before its outermost frame. New causes may be added at the end. */
enum burin_cut {
	BURIN_CUT_NONE,
	BURIN_CUT_DEPTH,  /* too deep */
	BURIN_CUT_STACK,  /* the copy of the stack ended */
	BURIN_CUT_TABLES, /* no unwind information, or a broken one */
	BURIN_CUT_MEMORY, /* an address in no mapping */
	BURIN_CUT_IMAGE,  /* the image cannot be read */
	BURIN_CUT_RING,	  /* the kernel's ring had no room for the stack: nothing of it is known */
	BURIN_CUTS
};

/* burin_cut_name - a cause in a few words ("stack too deep"); "?" for an unknown one. */
BURIN_READ_API const char *burin_cut_name(unsigned cut);

/* A frame of a stack. */
struct burin_stack {
	uint32_t place;
	uint32_t caller; /* the next frame outwards: always a smaller number; 0: there is none */
	uint32_t depth;	 /* frames from here outwards, this one included; at most 1025 */
};

/* burin_profile_stack - a frame by its number. Return: 0; -ENOENT: none, or its entry cannot be read. */
BURIN_READ_API int burin_profile_stack(const struct burin_profile *profile, uint32_t number,
				       struct burin_stack *stack);

struct burin_place {
	uint32_t image; /* 0: no place, but a mark that the stack is cut here */
	unsigned cut;	/* enum burin_cut, of a mark */
	uint64_t
		offset; /* in the image; of all but innermost frames that of the call, minus one from its return */
	uint64_t begin, size; /* of the function that it lies in; 0, 0: unknown */
	uint32_t frames; /* functions that are known to be at this address: 0, 1, or more with inlined ones */
};

/* burin_profile_place - a place by its number. Return: 0; -ENOENT. */
BURIN_READ_API int burin_profile_place(const struct burin_profile *profile, uint32_t number,
				       struct burin_place *place);

/* A function at a place. */
struct burin_frame {
	uint32_t name; /* number of the function's name: the same name has the same number; 0: unknown */
	const char *function; /* any bytes; NULL: unknown */
	const char *file;     /* source file, any bytes; NULL: unknown */
	uint32_t line;	      /* 0: unknown */
};

/*
 * burin_profile_frame - a function at a place.
 * @place: the place's number
 * @n: from 0, the innermost inlined one first
 *
 * Return: 0; -ENOENT behind the last.
 */
BURIN_READ_API int burin_profile_frame(const struct burin_profile *profile, uint32_t place, uint32_t n,
				       struct burin_frame *frame);

/*
 * burin_profile_address - what to call a place whose function has no name: "libc.so.6+0x1f2e4", the offset
 * being where the function begins, if that is known; of a mark, the cause in brackets: "[stack too deep]".
 * @out: receives the text, NUL-terminated, cut to fit; any bytes
 * Return: @out.
 */
BURIN_READ_API char *burin_profile_address(const struct burin_profile *profile, uint32_t place, char *out,
					   size_t size);

#ifdef __cplusplus
}
#endif

#endif

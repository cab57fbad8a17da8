/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * profile.h - read the samples of a trace: which thread ran, where, and for how much of the time. Link with
 * -lburin-read (pkg-config burin-read).
 *
 *	struct burin_profile *profile;
 *	struct burin_sample sample;
 *	struct burin_stack stack;
 *	struct burin_location location;
 *
 *	burin_profile_open(&profile, trace);
 *	while (burin_cursor_next(cursor, &record) > 0) {
 *		if (burin_profile_sample(profile, record, &sample))
 *			continue;
 *		for (uint32_t n = sample.stack; !burin_profile_stack(profile, n, &stack); n = stack.caller)
 *			if (!burin_profile_location(profile, stack.location, &location))
 *				...
 *	}
 *	burin_profile_close(profile);
 *
 * A sample is a record of an event `sample.*`. It refers to entries of tables: tasks, stacks and images. Stacks refer
 * to locations. Entries are numbered from 1; 0 means none. A location is one address in one image. Each exists once,
 * so a caller can compute its properties once and keep them in an array.
 *
 * The rules of burin/read.h hold here too. A fault of a table is passed to the trace's callback and counted among its
 * faults; unreadable entries are left out. Returned pointers belong to the profile. A profile does not change; any
 * number of threads may use it.
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
 * @trace: must stay open while the profile is used
 *
 * Context: allocates; reads files. Takes about 0.1 s for a million stacks; the other functions are fast.
 * Return: 0; -ENODATA if the trace has no samples; -ENOMEM.
 */
BURIN_READ_API int burin_profile_open(struct burin_profile **profile, const struct burin_trace *trace);

/* burin_profile_close - free a profile. NULL is allowed. */
BURIN_READ_API void burin_profile_close(struct burin_profile *profile);

/* ---- How the samples were taken ---- */

/*
 * burin_profile_value - a value of `.burin/profile`.
 * @key: "frequency", "received", "lost.ring", ... as listed in docs/format.md
 *
 * Return: the first value of the key, NUL-terminated, any bytes; NULL if it is not there.
 */
BURIN_READ_API const char *burin_profile_value(const struct burin_profile *profile, const char *key);

/* burin_profile_number - a value as a number; 0 if it is missing or not a number. */
BURIN_READ_API uint64_t burin_profile_number(const struct burin_profile *profile, const char *key);

/* burin_profile_value_at - the n-th line (from 0) of `.burin/profile`. The key "limit" may occur several times: each
 * names something that was not permitted, and what to do about it. Return: 0; -ENOENT behind the last. */
BURIN_READ_API int burin_profile_value_at(const struct burin_profile *profile, unsigned n, const char **key,
					  const char **value);

/* ---- Samples ---- */

struct burin_sample {
	uint32_t context; /* sample context: task and stack as one number; 0: unknown */
	uint32_t task;	  /* the thread that ran */
	uint32_t stack;	  /* the innermost frame; 0: the recording took no stacks */
	uint64_t weight;  /* the time or number of events that it stands for; see burin_profile_unit() */
};

/* burin_profile_is_sample - whether the records of an event are samples. */
BURIN_READ_API int burin_profile_is_sample(const struct burin_profile *profile,
					   const struct burin_event *event);

/* burin_profile_unit - the unit of an event's weights: "ns", "events"; "samples" if the trace has no unit for it. */
BURIN_READ_API const char *burin_profile_unit(const struct burin_profile *profile,
					      const struct burin_event *event);

/* burin_profile_sample - read a record as a sample. Return: 0; -EINVAL if it is not a sample. */
BURIN_READ_API int burin_profile_sample(const struct burin_profile *profile,
					const struct burin_record *record, struct burin_sample *sample);

/* burin_profile_context - the task and stack of a sample context; several contexts may have the same. Return: 0;
 * -ENOENT, and both are 0. */
BURIN_READ_API int burin_profile_context(const struct burin_profile *profile, uint32_t number, uint32_t *task,
					 uint32_t *stack);

/* ---- Tasks ---- */

/* A thread, as long as it had one name and ran one program. */
struct burin_task {
	uint32_t tid, pid;
	uint64_t since;	  /* ticks */
	uint32_t image;	  /* of the program; 0: unknown */
	const char *name; /* of the thread, any bytes */
	const char *path; /* of the program, any bytes; "" if unknown */
};

/* burin_profile_contexts, ..._tasks, ..._images, ..._stacks, ..._locations - the largest number. */
BURIN_READ_API uint32_t burin_profile_contexts(const struct burin_profile *profile);
BURIN_READ_API uint32_t burin_profile_tasks(const struct burin_profile *profile);
BURIN_READ_API uint32_t burin_profile_images(const struct burin_profile *profile);
BURIN_READ_API uint32_t burin_profile_stacks(const struct burin_profile *profile);
BURIN_READ_API uint32_t burin_profile_locations(const struct burin_profile *profile);

/* burin_profile_task - a task by its number; NULL if there is none, or if its entry cannot be read. */
BURIN_READ_API const struct burin_task *burin_profile_task(const struct burin_profile *profile,
							   uint32_t number);

/* ---- Images: executable files, the kernel, code made at run time ---- */

/* Kinds of images, and what the offsets of their locations count from. New ones may be added at the end. */
enum burin_image_kind {
	BURIN_IMAGE_FILE = 1,  /* the start of the file */
	BURIN_IMAGE_KERNEL,    /* _text */
	BURIN_IMAGE_MODULE,    /* of the kernel: its base */
	BURIN_IMAGE_VDSO,      /* the start of its ELF image */
	BURIN_IMAGE_ANONYMOUS, /* 0: the offset is the address */
	BURIN_IMAGE_JIT,       /* 0: the offset is the address */
	BURIN_IMAGE_JITDUMP,   /* the start of the jitdump, which has the code */
};

/* The names that the trace has for an image. */
enum burin_names_state {
	BURIN_NAMES_NONE,
	BURIN_NAMES_EXPORTED,  /* exported functions only */
	BURIN_NAMES_FUNCTIONS, /* functions, no lines */
	BURIN_NAMES_LINES,     /* functions, lines and inlined functions */
	BURIN_NAMES_UNKNOWN,   /* unknown: the trace has not been symbolized */
};

struct burin_image {
	unsigned kind; /* enum burin_image_kind */
	uint64_t size; /* of the file, bytes */
	const unsigned char *build_id;
	size_t build_id_bytes;
	const char *path; /* as the process saw it, any bytes; of a module its name in brackets */
	unsigned names;	  /* enum burin_names_state */
	const char *hint; /* the package or file that would supply missing names; "" if none or unknown */
};

/* burin_profile_image - an image by its number; NULL if there is none, or if its entry cannot be read. */
BURIN_READ_API const struct burin_image *burin_profile_image(const struct burin_profile *profile,
							     uint32_t number);

/* burin_image_name - a short name of an image: "libc.so.6", "[kernel]", "[vdso]", "[anon]"; any bytes. NULL is
 * allowed: "[unknown]". */
BURIN_READ_API const char *burin_image_name(const struct burin_image *image);

/* ---- Stacks and locations ---- */

/* Truncation: why a stack ends before its outermost frame. New causes may be added at the end. */
enum burin_truncation {
	BURIN_TRUNCATION_NONE,
	BURIN_TRUNCATION_DEPTH,	 /* too deep */
	BURIN_TRUNCATION_STACK,	 /* the copied part of the stack ended */
	BURIN_TRUNCATION_TABLES, /* unwind information is missing or broken */
	BURIN_TRUNCATION_MEMORY, /* an address in no mapping */
	BURIN_TRUNCATION_IMAGE,	 /* the image cannot be read */
	BURIN_TRUNCATION_RING,	 /* the kernel's ring had no room for the stack: no frame is known */
	BURIN_TRUNCATIONS
};

/* burin_truncation_name - a cause in a few words ("stack too deep"); "?" for an unknown one. */
BURIN_READ_API const char *burin_truncation_name(unsigned truncation);

/* A frame of a stack. */
struct burin_stack {
	uint32_t location; /* number of its location */
	uint32_t caller;   /* the next frame outwards: always a smaller number; 0: there is none */
	uint32_t depth;	   /* frames from here outwards, this one included; at most 1025 */
};

/* burin_profile_stack - a frame by its number. Return: 0; -ENOENT: there is none, or its entry cannot be read. */
BURIN_READ_API int burin_profile_stack(const struct burin_profile *profile, uint32_t number,
				       struct burin_stack *stack);

struct burin_location {
	uint32_t image;	     /* 0: this is not an address, but the mark of a truncation */
	unsigned truncation; /* enum burin_truncation, of a mark */
	/* In the image. Of callers it lies in the call instruction: the return address minus one. */
	uint64_t offset;
	uint64_t begin, size; /* of the function around it; 0, 0: unknown */
	uint32_t frames;      /* known functions at this address: 0, 1, or more if calls were inlined */
};

/* burin_profile_location - a location by its number. Return: 0; -ENOENT. */
BURIN_READ_API int burin_profile_location(const struct burin_profile *profile, uint32_t number,
					  struct burin_location *location);

/* A function at a location. */
struct burin_frame {
	uint32_t name;	      /* number of the function's name; equal names have equal numbers; 0: unknown */
	const char *function; /* any bytes; NULL: unknown */
	const char *file;     /* source file, any bytes; NULL: unknown */
	uint32_t line;	      /* 0: unknown */
};

/*
 * burin_profile_frame - a function at a location.
 * @location: the location's number
 * @n: from 0, the innermost inlined function first
 *
 * Return: 0; -ENOENT behind the last.
 */
BURIN_READ_API int burin_profile_frame(const struct burin_profile *profile, uint32_t location, uint32_t n,
				       struct burin_frame *frame);

/*
 * burin_profile_address - a text for a location without a function name: "libc.so.6+0x1f2e4". The offset is that of
 * the function's first byte, if it is known. A mark gives its cause in brackets: "[stack too deep]".
 * @location: the location's number
 * @out: receives the text, NUL-terminated, cut to fit; any bytes
 * Return: @out.
 */
BURIN_READ_API char *burin_profile_address(const struct burin_profile *profile, uint32_t location, char *out,
					   size_t size);

#ifdef __cplusplus
}
#endif

#endif

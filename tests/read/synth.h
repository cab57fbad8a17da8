/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Synthetic traces, written by docs/format.md without a ring, a session or a recorder. So the readers are tested against
 * the format and not against our own writer.
 */
#ifndef BURIN_TESTS_READ_SYNTH_H
#define BURIN_TESTS_READ_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire_packet.h"

struct synth;
struct synth_ring;

struct synth_options {
	uint32_t packet_bytes;	   /* default 4096 */
	uint32_t packets_per_file; /* default 8 */
	uint32_t cpus;		   /* default 2 */
	uint64_t hz;		   /* default 2.6e9 */
	int64_t offset_ns;	   /* default 1700000000 s */
	const char *state;	   /* default "finished" */
	const char *command;	   /* default "./demo" */
	const char *machine;	   /* default: none is named */
	const char *kernel_calls;  /* the same */
};

/* Begins a trace in a directory that does not exist yet. */
struct synth *synth_new(const char *path, const struct synth_options *options);
/* Adds an event; types as in struct wire_event, as hexadecimal digits, the first argument lowest. Return: its id. */
uint32_t synth_event(struct synth *synth, const char *name, const char *format, uint64_t types, unsigned kind,
		     const char *file, uint32_t line);
void synth_refuse(struct synth *synth, uint32_t id, unsigned times, const char *file, uint32_t line);

/* locked: the ring with that number for writers without rseq. */
struct synth_ring *synth_ring(struct synth *synth, uint32_t number, bool locked);
/* The samples of a CPU. */
struct synth_ring *synth_samples(struct synth *synth, uint32_t cpu);
struct synth_ring *synth_names(struct synth *synth);

/* Writes a record; times must not decrease. Opens packets and files and uses the extended form as needed. */
void synth_record(struct synth_ring *ring, uint64_t time, uint32_t id, uint32_t tid, const void *payload,
		  size_t bytes);
/* The same, packed from arguments by a pattern: b w d q for 1, 2, 4, 8 bytes (int, int, uint32_t, uint64_t), f for a
 * float and g for a double (double), s for a string, x for bytes (pointer, then int count). */
void synth_recordf(struct synth_ring *ring, uint64_t time, uint32_t id, uint32_t tid, const char *pattern,
		   ...);
void synth_process(struct synth *synth, uint64_t time, uint32_t pid, uint32_t parent, const char *exe,
		   const char *command);
void synth_thread(struct synth *synth, uint64_t time, uint32_t tid, uint32_t pid, const char *name);

/* Counts records as lost from now on. */
void synth_lose(struct synth_ring *ring, unsigned cause, uint64_t count);
/* Closes the current packet; the next one begins `overwritten` packets later. */
void synth_close_packet(struct synth_ring *ring, unsigned overwritten, uint64_t records_overwritten);
/* Writes a packet without records at a time. */
void synth_empty_packet(struct synth_ring *ring, uint64_t time);
/* The next packet goes into a file of its own. */
void synth_next_file(struct synth_ring *ring);

/* Writes everything and frees synth and its rings. */
void synth_finish(struct synth *synth);

/* The trace of most tests: every type, two CPUs and a locked ring, wraps of the 32-bit time, extended records, empty
 * packets, several files, losses, names. Return: the number of records. */
uint64_t synth_sample(const char *path);

/* Helpers for tests: create a directory below $TMPDIR, and remove a tree. */
char *synth_directory(char *path, size_t size);
void synth_remove(const char *path);

#endif

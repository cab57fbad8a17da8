/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables of samples, written by hand after docs/format.md, for traces of synth.h. What goes wrong ends the test. */
#ifndef BURIN_TESTS_READ_TABLES_H
#define BURIN_TESTS_READ_TABLES_H

#include <stdint.h>

struct tables;

/* Begins the five tables of the trace in a directory; `per_block` entries go into a block, every other block packed. */
struct tables *tables_new(const char *trace, unsigned per_block);
/* Each returns the number of the entry; a text that of the text. */
uint32_t tables_image(struct tables *tables, unsigned kind, const char *build_id, const char *path);
uint32_t tables_task(struct tables *tables, uint32_t tid, uint32_t pid, uint32_t image, const char *name,
		     const char *path);
/* caller 0: none. */
uint32_t tables_stack(struct tables *tables, uint32_t caller, uint32_t image, uint64_t offset);
uint32_t tables_spot(struct tables *tables, uint32_t task, uint32_t stack);
uint32_t tables_text(struct tables *tables, const char *text);
/* A function at a place; `inlined` (0: none) stands at the same place, inlined into it. */
void tables_place(struct tables *tables, uint32_t image, uint64_t offset, uint64_t begin, uint64_t size,
		  uint32_t inlined, uint32_t inlined_line, uint32_t name, uint32_t file, uint32_t line);
/* A function that names all places in it that have no entry of their own. */
void tables_function(struct tables *tables, uint32_t image, uint64_t begin, uint64_t size, uint32_t name);
void tables_state(struct tables *tables, uint32_t image, unsigned state, const char *hint);
/* Writes what is left, and `.burin/profile` with this text. */
void tables_finish(struct tables *tables, const char *profile);

#endif

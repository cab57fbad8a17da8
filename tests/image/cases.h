/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of many shapes that call something in the middle, compiled without frame pointers. */
#ifndef BURIN_TESTS_IMAGE_CASES_H
#define BURIN_TESTS_IMAGE_CASES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*reached)(void);

/* The return address of the latest case_record() or case_bare(). */
extern void *case_return;

void case_plain(reached then);
void case_deep(unsigned frames, reached then);
void case_alloca(unsigned bytes, reached then);
void case_aligned(reached then);
void case_signal(reached then); /* `then` runs in the handler */
void case_sort(reached then);	/* called back from libc */
void case_thread(reached then); /* in a thread of its own */
void case_record(reached then); /* through a function without tables that keeps a frame record */
void case_bare(reached then);	/* through one that keeps the frame pointer; the caller keeps a record */
void case_misled(reached then); /* through one that uses the frame pointer for other values */
void case_framed(unsigned frames, reached then); /* large frames with frame records */
void case_throw(reached then); /* in a destructor while an exception unwinds, then in its handler */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * context.h - mark a thread's records with the request that it works on. Manual: burin-context(3).
 *
 *	burin_correlation_set(request->id);
 *
 * From then on each record of the calling thread carries that number, if the session has this context
 * (`burin record --context correlation`). A reader can so select all records of one request, across threads.
 * In other sessions the call costs a store.
 */
#ifndef BURIN_CONTEXT_H
#define BURIN_CONTEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef BURIN_DISABLE
#define BURIN_CONTEXT_API __attribute__((__visibility__("default"), __nothrow__))

/*
 * burin_correlation_set - set the id that the calling thread's records carry.
 * @id: any number; 0, the initial value: none
 * A forked child inherits the id; a new thread does not.
 * Context: any thread, signal-safe. Costs a call and a thread-local store.
 */
BURIN_CONTEXT_API void burin_correlation_set(uint64_t id);

/* burin_correlation - the id that the calling thread set last. Context: any thread, signal-safe. */
BURIN_CONTEXT_API uint64_t burin_correlation(void);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* a program may have declared another `id` */
static inline __attribute__((__always_inline__, __no_instrument_function__)) void
burin_correlation_set(uint64_t id)
{
	(void)id;
}

static inline __attribute__((__always_inline__, __no_instrument_function__)) uint64_t burin_correlation(void)
{
	return 0;
}
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * context.h - what a thread is working on, for those who read its records. Manual: burin-context(3).
 *
 *	burin_correlation_set(request->id);
 *
 * From then on each record of the calling thread carries that number, in sessions that were made so
 * (`burin record --context correlation`): all that was done for one request, in whatever thread, is found by its id.
 * In other sessions it costs a store.
 */
#ifndef BURIN_CONTEXT_H
#define BURIN_CONTEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef BURIN_DISABLE
#define BURIN__CONTEXT_API __attribute__((__visibility__("default"), __nothrow__))

/*
 * burin_correlation_set - give the calling thread's records an id.
 * @id: any number; 0, as at the thread's start: none
 * A child that the thread forks goes on with it; threads that it starts do not.
 * Context: any thread, signal-safe. Costs a call and a thread-local store.
 */
BURIN__CONTEXT_API void burin_correlation_set(uint64_t id);

/* burin_correlation - the id that was set last. Context: any thread, signal-safe. */
BURIN__CONTEXT_API uint64_t burin_correlation(void);
#else
static inline __attribute__((__always_inline__, __unused__)) void burin_correlation_set(uint64_t id)
{
	(void)id;
}

static inline __attribute__((__always_inline__, __unused__)) uint64_t burin_correlation(void)
{
	return 0;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif

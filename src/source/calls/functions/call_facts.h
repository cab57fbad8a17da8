/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Debug information of files that the program loads later, such as by dlopen: the recorder reads it while the program waits. */
#ifndef BURIN_SOURCE_CALLS_FUNCTIONS_CALL_FACTS_H
#define BURIN_SOURCE_CALLS_FUNCTIONS_CALL_FACTS_H

#include <stdint.h>

/*
 * call_facts_wait - before the rules are asked about a function of an image: wait until the recorder has stored what is known of its
 * file (session/calls/call_known.h). If it does not answer in time, the process prints a line, and does not wait again.
 * @image: number in the session
 * Context: any thread, signal handlers. It returns at once if no rule needs such facts, or the file was read already.
 */
void call_facts_wait(uint32_t image);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How faulty-memory.so talks to fault-at: by the call gettid, with one of these as an argument that the kernel does not look at. A process
 * that has given up its other calls may still make that one.
 */
#ifndef TESTS_FAULT_AT_H
#define TESTS_FAULT_AT_H

enum {
	FAULT_BEGIN =
		0xfa001, /* the command's own code begins; next: where a word is that is 0 from when on nothing is asked */
	FAULT_ALLOCATE = 0xfa002, /* memory is wanted; -1 with ENOMEM: there is none */
};

#endif

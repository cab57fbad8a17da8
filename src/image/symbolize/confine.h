/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A process gives up its rights before it reads foreign ELF and DWARF: user, groups, capabilities, memory, time,
 * descriptors and, by seccomp, most system calls. An attacker that takes it over can compute, read the open files and
 * write to the open descriptors. Any other system call ends this process alone, by SIGSYS.
 */
#ifndef BURIN_IMAGE_SYMBOLIZE_CONFINE_H
#define BURIN_IMAGE_SYMBOLIZE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CONFINE_USER = 65534, /* and group: what root becomes */
};

struct confine {
	uint64_t memory;  /* bytes of address space beyond those mapped now; 0: no limit */
	unsigned seconds; /* of CPU time; 0: no limit */
	const int *keep;  /* descriptors that stay open, sorted; of the others, 0 to 2 become /dev/null */
	unsigned keep_count;
	bool execute; /* it executes another program, which is linked dynamically and opens files for reading */
	/*
	 * It downloads files: it reaches the network and opens files, by whatever calls the libraries for that use. Of the
	 * calls it only loses those that execute programs or reach into other processes.
	 */
	bool download;
	uint64_t file_bytes; /* the largest file that it may write; 0: none */
	/*
	 * Called instead of open(2), from a signal handler, with the path. Return: a descriptor or a negative errno.
	 * NULL: opening fails with EACCES.
	 */
	int (*open)(const char *path);
	int asks; /* the only descriptor that may receive messages, for the answers to `open`; -1: none */
};

/*
 * confine_process - give up rights, irrevocably. This process is killed when its parent ends.
 *
 * In a user namespace without another user, the user stays the same, without capabilities. Builds with sanitizers keep
 * stderr and have neither seccomp nor a limit of memory, since sanitizers need more than both permit.
 *
 * Return: 0; a negative errno: it is confined, but without seccomp, which the kernel refused.
 */
int confine_process(const struct confine *to);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Debug files and sources from the servers of DEBUGINFOD_URLS, by build id. Without that variable, or if it is empty, nothing is
 * downloaded.
 *
 * The server and its files are foreign. Each file is downloaded by a child process that drops its rights before it loads
 * libdebuginfod.so.1 (debuginfod_download.h). It can write to one new directory, up to a size. The caller then takes the file
 * over, if it is a regular file with the build id that was asked for, into the cache (debuginfod_cache.h). The content is not
 * trusted after that either: only confined processes read it. A source file has no build id: its content is the server's word,
 * and is text to be shown.
 */
#ifndef BURIN_IMAGE_DEBUGINFOD_DEBUGINFOD_H
#define BURIN_IMAGE_DEBUGINFOD_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/debuginfod/debuginfod_cache.h"

enum {
	DEBUGINFOD_WHY_MAX = 320,  /* bytes of a reason */
	DEBUGINFOD_TEXT_MAX = 512, /* of the line about the result */
};

struct debuginfod {
	const char *what; /* the files are, for debuginfod_close; NULL: debug files */
	void *data;	  /* for progress() */
	/*
	 * Receives the bytes of the current file so far, and its size; 0: the server does not report it, or has not answered yet,
	 * and the bytes are not known either. NULL: not called. Called a few times per second.
	 */
	void (*progress)(void *data, uint64_t bytes, uint64_t total);
	struct debuginfod_cache cache;
	bool opened;		      /* the cache */
	bool stopped;		      /* no more files are requested: `why` */
	char why[DEBUGINFOD_WHY_MAX]; /* the last failure; "": none */
	unsigned asked, found;	      /* files; found: also in the cache */
	unsigned unknown,
		refused; /* unknown: no server has the file; refused: it was too large or another file */
	uint64_t bytes;	 /* downloaded and used */
};

/* debuginfod_is_wanted - whether DEBUGINFOD_URLS names a server. */
bool debuginfod_is_wanted(void);

/*
 * debuginfod_find - find the debug file of an image, and the file to which dwz moved parts of it.
 * @files: set to descriptors, which the caller closes; -1: none
 * @until_ms: the deadline on CLOCK_MONOTONIC; 0: none
 *
 * A failure of the server, of the cache, the deadline or SIGINT ends all requests: the next ones find nothing.
 *
 * Context: forks; receives SIGINT meanwhile, and SIGTERM and SIGHUP if they are blocked.
 */
void debuginfod_find(struct debuginfod *from, const unsigned char *build_id, size_t bytes, uint64_t until_ms,
		     int files[2]);

/*
 * debuginfod_find_source - find a source file of an image.
 * @path: as in its debug information, beginning with '/'
 * Return: a descriptor, which the caller closes; a negative errno.
 * Deadline, failures and context are those of debuginfod_find.
 */
int debuginfod_find_source(struct debuginfod *from, const unsigned char *build_id, size_t bytes,
			   const char *path, uint64_t until_ms);

/*
 * debuginfod_close - remove what the downloads left. A structure that is all 0 may be closed.
 * @text: receives one line about the result, without a newline; "": nothing was asked
 */
void debuginfod_close(struct debuginfod *from, char *text, size_t size);

#endif

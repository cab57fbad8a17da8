/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A process that downloads one file by libdebuginfod, with as few rights as that permits; see debuginfod.h. */
#ifndef BURIN_IMAGE_DEBUGINFOD_DEBUGINFOD_DOWNLOAD_H
#define BURIN_IMAGE_DEBUGINFOD_DEBUGINFOD_DOWNLOAD_H

#include <stddef.h>
#include <stdint.h>

/* A message on the pipe. */
struct download_progress {
	uint64_t bytes, total; /* total 0: unknown */
};

/* The size that a file may have: DEBUGINFOD_MAXSIZE, or 2 GiB. */
uint64_t debuginfod_download_max(void);

/*
 * debuginfod_download - the child's main function: download into the directory @work, as its file BUILD-ID/debuginfo or
 * BUILD-ID/source.
 * @source: the path of a source file, as the debug information has it; NULL: the debug file
 * @pipe: for struct download_progress
 * It exits with 0 or an errno; ELIBACC: there is no libdebuginfod.so.1; EFBIG.
 */
_Noreturn void debuginfod_download(int work, int pipe, const unsigned char *id, size_t bytes,
				   const char *source);

#endif

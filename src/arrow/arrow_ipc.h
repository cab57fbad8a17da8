/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Arrow's IPC format: a stream of batches, with its schema before them, as messages whose metadata are flatbuffers; or a file, which is such a
 * stream with the positions of the batches behind it.
 */
#ifndef BURIN_ARROW_ARROW_IPC_H
#define BURIN_ARROW_ARROW_IPC_H

#include <stdbool.h>
#include <stdint.h>

#include "arrow/arrow_abi.h"

/*
 * arrow_ipc_write - write all batches of a stream to a file descriptor.
 * @stream: of columns of the formats l, g, u and z; the caller releases it
 * @whole: as a file; otherwise as a stream
 * Return: 0; a negative errno of the stream or of writing.
 */
int arrow_ipc_write(struct ArrowArrayStream *stream, int file, bool whole);

#endif

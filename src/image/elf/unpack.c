/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Unpacking compressed files; see unpack.h. */
#include <dlfcn.h>
#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/number.h"
#include "image/elf/unpack.h"

enum {
	UNPACKED_MAX = 1 << 30, /* bytes */
	PIECE = 64 << 10,
	XZ_MEMORY_MAX = 256 << 20,
	WINDOW_BITS = 15 + 16, /* of zlib: the largest window, and the header of gzip */
	LZ4_BLOCK = 8 << 20,   /* each block but the last becomes that much */
	LZ4_PACKED_MAX = LZ4_BLOCK + LZ4_BLOCK / 255 + 16,
	LZ4_MAGIC = 0x184c2102,
	MAGIC_BYTES = 6,
};

struct unpacking {
	int from, to;
	uint64_t at, end; /* of what is still packed */
	uint64_t written;
};

/* Read the next packed bytes, up to the end. Return: how many; a negative errno. */
static ssize_t unpack_take(struct unpacking *unpacking, void *out, size_t room)
{
	const uint64_t rest = unpacking->end - unpacking->at;
	const size_t bytes = room < rest ? room : (size_t)rest;
	size_t taken = 0;
	ssize_t got;

	do {
		got = pread(unpacking->from, (char *)out + taken, bytes - taken, (off_t)unpacking->at);
		if (got > 0) {
			taken += (size_t)got;
			unpacking->at += (uint64_t)got;
		}
	} while (taken < bytes && (got > 0 || (got < 0 && errno == EINTR)));
	return got < 0 ? -errno : (ssize_t)taken;
}

static int unpack_put(struct unpacking *unpacking, const char *bytes, size_t count)
{
	unpacking->written += count;
	if (unpacking->written > UNPACKED_MAX)
		return -EFBIG;
	while (count) {
		const ssize_t put = write(unpacking->to, bytes, count);

		if (put < 0 && errno != EINTR)
			return -errno;
		bytes += put > 0 ? put : 0;
		count -= put > 0 ? (size_t)put : 0;
	}
	return 0;
}

/* ---- Streams */

struct pieces {
	const unsigned char *in;
	size_t in_bytes; /* that were not used yet */
	unsigned char *out;
	size_t out_bytes; /* room that is left */
};

/* One step of a decoder. Return: whether it was the last one; -EBADMSG, -ENOMEM. */
typedef int step_function(void *decoder, struct pieces *pieces);

static int unpack_stream(struct unpacking *unpacking, void *decoder, step_function *step)
{
	unsigned char in[PIECE], out[PIECE];
	struct pieces pieces = { .in = in, .out_bytes = sizeof(out) };
	int done = 0, error = 0;

	while (!done && !error) {
		/* A decoder that has filled its room may have more to give. */
		if (!pieces.in_bytes && pieces.out_bytes) {
			const ssize_t got = unpack_take(unpacking, in, sizeof(in));

			if (got <= 0)
				return got < 0 ? (int)got : -EBADMSG;
			pieces.in = in;
			pieces.in_bytes = (size_t)got;
		}
		pieces.out = out;
		pieces.out_bytes = sizeof(out);
		done = step(decoder, &pieces);
		error = done < 0 ? done : unpack_put(unpacking, (char *)out, sizeof(out) - pieces.out_bytes);
	}
	return error;
}

static int step_zlib(void *decoder, struct pieces *pieces)
{
	z_stream *stream = decoder;
	int result;

	stream->next_in = (unsigned char *)pieces->in;
	stream->avail_in = (unsigned)pieces->in_bytes;
	stream->next_out = pieces->out;
	stream->avail_out = (unsigned)pieces->out_bytes;
	result = inflate(stream, Z_NO_FLUSH);
	pieces->in = stream->next_in;
	pieces->in_bytes = stream->avail_in;
	pieces->out_bytes = stream->avail_out;
	return result == Z_STREAM_END			 ? 1
	       : result == Z_OK || result == Z_BUF_ERROR ? 0
	       : result == Z_MEM_ERROR			 ? -ENOMEM
							 : -EBADMSG;
}

static int unpack_gzip(struct unpacking *unpacking)
{
	z_stream stream = { 0 };
	int error = inflateInit2(&stream, WINDOW_BITS) == Z_OK ? 0 : -ENOMEM;

	if (!error)
		error = unpack_stream(unpacking, &stream, step_zlib);
	inflateEnd(&stream);
	return error;
}

static int step_lzma(void *decoder, struct pieces *pieces)
{
	lzma_stream *stream = decoder;
	lzma_ret result;

	stream->next_in = pieces->in;
	stream->avail_in = pieces->in_bytes;
	stream->next_out = pieces->out;
	stream->avail_out = pieces->out_bytes;
	result = lzma_code(stream, LZMA_RUN);
	pieces->in = stream->next_in;
	pieces->in_bytes = stream->avail_in;
	pieces->out_bytes = stream->avail_out;
	return result == LZMA_STREAM_END				   ? 1
	       : result == LZMA_OK || result == LZMA_BUF_ERROR		   ? 0
	       : result == LZMA_MEM_ERROR || result == LZMA_MEMLIMIT_ERROR ? -ENOMEM
									   : -EBADMSG;
}

static int unpack_lzma(struct unpacking *unpacking)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	int error = lzma_auto_decoder(&stream, XZ_MEMORY_MAX, 0) == LZMA_OK ? 0 : -ENOMEM;

	if (!error)
		error = unpack_stream(unpacking, &stream, step_lzma);
	lzma_end(&stream);
	return error;
}

static int step_zstd(void *decoder, struct pieces *pieces)
{
	ZSTD_inBuffer in = { pieces->in, pieces->in_bytes, 0 };
	ZSTD_outBuffer out = { pieces->out, pieces->out_bytes, 0 };
	const size_t result = ZSTD_decompressStream(decoder, &out, &in);

	pieces->in += in.pos;
	pieces->in_bytes -= in.pos;
	pieces->out_bytes -= out.pos;
	return ZSTD_isError(result) ? -EBADMSG : result == 0;
}

static int unpack_zstd(struct unpacking *unpacking)
{
	ZSTD_DStream *decoder = ZSTD_createDStream();
	const int error = decoder ? unpack_stream(unpacking, decoder, step_zstd) : -ENOMEM;

	ZSTD_freeDStream(decoder);
	return error;
}

/* ---- lz4: blocks with their sizes */

typedef int lz4_function(const char *from, char *to, int from_bytes, int room);

/* Few files need the library, and it has one function that counts: it is loaded when it is used. */
static lz4_function *load_lz4(void)
{
	void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
	lz4_function *function = NULL;

	if (library)
		*(void **)&function = dlsym(library, "LZ4_decompress_safe");
	return function;
}

/* Return: whether there was no further block; a negative errno. */
static int unpack_block(struct unpacking *unpacking, lz4_function *decompress, char *in, char *out)
{
	uint32_t bytes = 0;
	ssize_t got = unpack_take(unpacking, &bytes, sizeof(bytes));
	int unpacked;

	if (got < 0)
		return (int)got;
	if (got < (ssize_t)sizeof(bytes) ||
	    unpacking->at == unpacking->end) /* behind the blocks a kernel has its size */
		return unpacking->written ? 1 : -EBADMSG;
	if (bytes == LZ4_MAGIC)
		return 0;
	got = bytes <= LZ4_PACKED_MAX ? unpack_take(unpacking, in, bytes) : -EBADMSG;
	if (got != (ssize_t)bytes)
		return got < 0 ? (int)got : -EBADMSG;
	unpacked = decompress(in, out, (int)bytes, LZ4_BLOCK);
	return unpacked < 0 ? -EBADMSG : unpack_put(unpacking, out, (size_t)unpacked);
}

static int unpack_lz4(struct unpacking *unpacking)
{
	lz4_function *decompress = load_lz4();
	char *in = malloc(LZ4_PACKED_MAX), *out = malloc(LZ4_BLOCK);
	int done = !decompress ? -ELIBACC : in && out ? 0 : -ENOMEM;

	while (!done)
		done = unpack_block(unpacking, decompress, in, out);
	free(in);
	free(out);
	return done < 0 ? done : 0;
}

/* ---- All */

static const struct method {
	unsigned bytes;
	char magic[MAGIC_BYTES + 1];
	int (*unpack)(struct unpacking *unpacking);
} methods[] = {
	{ 3, "\x1f\x8b\x08", unpack_gzip },
	{ 6,
	  "\xfd"
	  "7zXZ",
	  unpack_lzma },
	{ 3, "\x5d\0\0", unpack_lzma },
	{ 4, "\x28\xb5\x2f\xfd", unpack_zstd },
	{ 4, "\x02\x21\x4c\x18", unpack_lz4 },
};

static const struct method *method_of(const char *head, size_t bytes)
{
	for (size_t n = 0; n < sizeof(methods) / sizeof(*methods); n++)
		if (bytes >= methods[n].bytes && memcmp(head, methods[n].magic, methods[n].bytes) == 0)
			return &methods[n];
	return NULL;
}

int unpack_range(int file, uint64_t at, uint64_t end)
{
	struct unpacking unpacking = { file, -1, at, end, 0 };
	char head[MAGIC_BYTES];
	const ssize_t got = unpack_take(&unpacking, head, sizeof(head));
	const struct method *method = got > 0 ? method_of(head, (size_t)got) : NULL;
	int error;

	if (!method)
		return got < 0 ? (int)got : -ENOEXEC;
	unpacking.at = at;
	unpacking.to = memfd_create("burin-unpacked", MFD_CLOEXEC);
	if (unpacking.to < 0)
		return -errno;
	error = method->unpack(&unpacking);
	if (error)
		close(unpacking.to);
	return error ?: unpacking.to;
}

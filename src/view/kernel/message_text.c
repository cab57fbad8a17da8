/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Messages as text; see message_text.h. */
#include "view/kernel/message_text.h"

#include <inttypes.h>

#include "base/number.h"
#include "view/kernel/socket_text.h"
#include "view/kernel/word_text.h"

/* Offsets of members, the same on all machines of 64 bits. */
enum {
	NAME = 0,
	NAME_BYTES = 8,
	VECTORS = 16,
	VECTOR_COUNT = 24,
	CONTROL = 32,
	CONTROL_BYTES = 40,
	FLAGS = 48,
	HEAD = 56,
	VECTOR_BASE = 0, /* of struct iovec */
	VECTOR_LENGTH = 8,
	VECTOR = 16,
};

static void put_base(uint64_t base, uint64_t length, const struct message_part *data, struct view_buffer *out)
{
	if (!base || (length && !data->count)) {
		word_text_address(out, base);
		return;
	}
	word_text_octets(out, data->bytes, data->count);
	if (data->count < length)
		view_buffer_print(out, "...");
}

/* @data: of the first one. */
static void put_vectors(const uint8_t *bytes, uint64_t count, uint64_t shown, struct message_part data,
			struct view_buffer *out)
{
	view_buffer_print(out, "[");
	for (uint64_t n = 0; n < shown; n++) {
		const uint8_t *vector = bytes + n * VECTOR;
		const uint64_t length = number_load64(vector + VECTOR_LENGTH);

		view_buffer_print(out, n ? ", {iov_base=" : "{iov_base=");
		put_base(number_load64(vector + VECTOR_BASE), length, &data, out);
		view_buffer_print(out, ", iov_len=%" PRIu64 "}", length);
		data.count = 0;
	}
	view_buffer_print(out, shown < count ? ", ...]" : "]");
}

static void put_iov(const uint8_t *head, size_t bytes, struct view_buffer *out)
{
	const uint64_t at = number_load64(head + VECTORS), count = number_load64(head + VECTOR_COUNT),
		       whole = (bytes - HEAD) / VECTOR,
		       known = whole < MESSAGE_VECTORS ? whole : MESSAGE_VECTORS,
		       shown = count < known ? count : known;
	const size_t used = HEAD + (size_t)shown * VECTOR;

	if (!at || (count && !shown))
		word_text_address(out, at);
	else
		put_vectors(head + HEAD, count, shown, (struct message_part){ head + used, bytes - used },
			    out);
}

bool message_text(const struct syscall_machine *machine, const struct message_part *name,
		  const struct message_part *message, struct view_buffer *out)
{
	const uint8_t *head = message->bytes;
	const bool known = message->count >= HEAD;

	if (!known && !name->count)
		return false;
	view_buffer_print(out, "{msg_name=");
	if (name->count)
		socket_text(name->bytes, name->count, out);
	else
		word_text_address(out, number_load64(head + NAME));
	if (!known) {
		view_buffer_print(out, ", msg_namelen=%zu, ...}", name->count);
		return true;
	}
	view_buffer_print(out, ", msg_namelen=%d, msg_iov=", (int)number_load32(head + NAME_BYTES));
	put_iov(head, message->count, out);
	view_buffer_print(out, ", msg_iovlen=%" PRIu64, number_load64(head + VECTOR_COUNT));
	if (number_load64(head + CONTROL_BYTES)) {
		view_buffer_print(out, ", msg_control=");
		word_text_address(out, number_load64(head + CONTROL));
	}
	view_buffer_print(out,
			  ", msg_controllen=%" PRIu64 ", msg_flags=", number_load64(head + CONTROL_BYTES));
	if (machine)
		word_text_put(out, word_text_find(machine, "sendmsg", "flags"), number_load32(head + FLAGS),
			      false);
	else
		view_buffer_print(out, "%#" PRIx32, number_load32(head + FLAGS));
	view_buffer_print(out, "}");
	return true;
}

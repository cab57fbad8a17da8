/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Messages as text; see message_text.h. */
#include "view/syscalls/values/message_text.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/number.h"
#include "view/syscalls/values/socket_text.h"
#include "view/syscalls/values/structure_text.h"
#include "view/syscalls/values/word_text.h"

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
	CONTROL_LEVEL = 8, /* of struct cmsghdr */
	CONTROL_TYPE = 12,
	CONTROL_HEAD = 16,
};

/*
 * Write a vector. @data: the bytes that the record has of this and of later ones, of which it takes its own. @room: the same, that there would be
 */
static void message_text_put_vector(const uint8_t *vector, struct message_part *data, uint64_t *room,
				    struct view_buffer *out)
{
	const uint64_t base = number_load64(vector + VECTOR_BASE),
		       length = number_load64(vector + VECTOR_LENGTH),
		       taken = length < *room ? length : *room;

	view_buffer_print(out, "{iov_base=");
	if (!base || taken > data->count || (length && !taken)) {
		word_text_address(out, base);
		data->count = length ? 0 : data->count;
	} else {
		word_text_octets(out, data->bytes, (size_t)taken);
		if (taken < length)
			view_buffer_print(out, "...");
		*data = (struct message_part){ (const uint8_t *)data->bytes + taken,
					       data->count - (size_t)taken };
		*room -= taken;
	}
	view_buffer_print(out, ", iov_len=%" PRIu64 "}", length);
}

bool message_text_vectors(const struct message_part *part, uint64_t count, struct view_buffer *out)
{
	const uint64_t whole = part->count / VECTOR,
		       known = whole < MESSAGE_VECTORS ? whole : MESSAGE_VECTORS,
		       shown = count < known ? count : known;
	const uint8_t *bytes = part->bytes;
	struct message_part data = *part;
	uint64_t room = MESSAGE_DATA;

	if (count && !shown)
		return false;
	if (shown) { /* else there may be no bytes at all */
		data.bytes = bytes + shown * VECTOR;
		data.count -= (size_t)shown * VECTOR;
	}
	view_buffer_print(out, "[");
	for (uint64_t n = 0; n < shown; n++) {
		view_buffer_print(out, n ? ", " : "");
		message_text_put_vector(bytes + n * VECTOR, &data, &room, out);
	}
	view_buffer_print(out, shown < count ? ", ...]" : "]");
	return true;
}

static void put_iov(const uint8_t *head, size_t bytes, struct view_buffer *out)
{
	const uint64_t at = number_load64(head + VECTORS), count = number_load64(head + VECTOR_COUNT);
	const struct message_part part = { head + HEAD, bytes - HEAD };

	if (!at || !message_text_vectors(&part, count, out))
		word_text_address(out, at);
}

/* ---- control messages */

static void put_numbers(const uint8_t *bytes, size_t count, const struct descriptor_place *place,
			struct view_buffer *out)
{
	for (size_t at = 0; at + 4 <= count; at += 4) {
		const uint32_t number = number_load32(bytes + at);

		view_buffer_print(out, "%s%d", at ? ", " : "[", (int)number);
		if (place)
			descriptor_text(descriptor_path(place, number), out);
	}
	view_buffer_print(out, "]");
}

static const char *type_name(uint32_t level)
{
	return level == SOL_SOCKET ? "cmsg_type"
	       : level == SOL_IP   ? "cmsg_ip"
	       : level == SOL_IPV6 ? "cmsg_ip6"
				   : NULL;
}

static enum memory_form control_form(uint32_t level, uint32_t type)
{
	if (level != SOL_SOCKET)
		return MEMORY_NONE;
	switch (type) {
	case SCM_CREDENTIALS:
		return MEMORY_CREDENTIALS;
	case SO_TIMESTAMP:
		return MEMORY_TIMEVAL;
	case SO_TIMESTAMPNS:
		return MEMORY_TIME;
	default:
		return MEMORY_NONE;
	}
}

static void put_control_data(const struct syscall_machine *machine, const struct descriptor_place *place,
			     uint32_t level, uint32_t type, struct message_part data, struct view_buffer *out)
{
	if (level == SOL_SOCKET && type == SCM_RIGHTS && data.count >= 4)
		put_numbers(data.bytes, data.count, place, out);
	else if (level == SOL_IP && type == IP_TTL && data.count == 4)
		put_numbers(data.bytes, data.count, NULL, out);
	else if (!structure_text(control_form(level, type), machine, data.bytes, data.count, out))
		word_text_octets(out, data.bytes, data.count);
}

static void put_control(const struct syscall_machine *machine, const struct descriptor_place *place,
			const uint8_t *bytes, size_t count, struct view_buffer *out)
{
	const uint64_t length = number_load64(bytes);
	const uint32_t level = number_load32(bytes + CONTROL_LEVEL),
		       type = number_load32(bytes + CONTROL_TYPE);
	const char *name = type_name(level);

	view_buffer_print(out, "{cmsg_len=%" PRIu64 ", cmsg_level=", length);
	word_text_member(out, machine, "sendmsg", "cmsg_level", level);
	view_buffer_print(out, ", cmsg_type=");
	if (name)
		word_text_member(out, machine, "sendmsg", name, type);
	else
		view_buffer_print(out, "%#" PRIx32, type);
	if (length > CONTROL_HEAD) {
		const size_t there = count < length ? count : (size_t)length;

		view_buffer_print(out, ", cmsg_data=");
		put_control_data(machine, place, level, type,
				 (struct message_part){ bytes + CONTROL_HEAD, there - CONTROL_HEAD }, out);
		if (there < length)
			view_buffer_print(out, "...");
	}
	view_buffer_print(out, "}");
}

/* @length: bytes that all of them have. Return: false: the record has none. */
static bool put_controls(const struct syscall_machine *machine, const struct descriptor_place *place,
			 const struct message_part *control, uint64_t length, struct view_buffer *out)
{
	const uint8_t *bytes = control->bytes;
	size_t left = control->count < length ? control->count : (size_t)length;
	const char *start = "[";

	if (!machine || left < CONTROL_HEAD)
		return false;
	while (left >= CONTROL_HEAD) {
		const uint64_t one = number_load64(bytes);

		view_buffer_print(out, "%s", start);
		put_control(machine, place, bytes, left, out);
		start = ", ";
		if (one < CONTROL_HEAD || one > left || (one + 7) / 8 * 8 >= left)
			break;
		bytes += (one + 7) / 8 * 8;
		left -= (one + 7) / 8 * 8;
	}
	view_buffer_print(out, control->count < length ? ", ...]" : "]");
	return true;
}

bool message_text(const struct syscall_machine *machine, const struct descriptor_place *place,
		  const struct message *message, struct view_buffer *out)
{
	const struct message_part *name = &message->name;
	const uint8_t *head = message->head.bytes;
	const bool known = message->head.count >= HEAD;

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
	put_iov(head, message->head.count, out);
	view_buffer_print(out, ", msg_iovlen=%" PRIu64, number_load64(head + VECTOR_COUNT));
	if (number_load64(head + CONTROL_BYTES)) {
		view_buffer_print(out, ", msg_control=");
		if (!put_controls(machine, place, &message->control, number_load64(head + CONTROL_BYTES),
				  out))
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

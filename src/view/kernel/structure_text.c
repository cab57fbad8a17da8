/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Structures as text; see structure_text.h. */
#include "view/kernel/structure_text.h"

#include <inttypes.h>

#include "base/number.h"
#include "view/kernel/word_text.h"

enum member_kind {
	MEMBER_NUMBER,
	MEMBER_WORDS, /* names: those of the call's argument that is called as the member is */
	MEMBER_MODE,
};

struct member {
	const char *name;
	uint8_t at, bytes;
	enum member_kind kind;
};

struct structure {
	const char *call; /* whose words its members have; NULL: none has */
	uint8_t bytes;	  /* that must be there */
	bool more;	  /* there are members that are not shown */
	const struct member *members;
	unsigned count;
};

static const struct member statx_members[] = {
	{ "stx_mask", 0, 4, MEMBER_WORDS },
	{ "stx_attributes", 8, 8, MEMBER_WORDS },
	{ "stx_mode", 28, 2, MEMBER_MODE },
	{ "stx_size", 40, 8, MEMBER_NUMBER },
};

#define MEMBERS(array) array, sizeof(array) / sizeof(array[0])

/* Each is the same on all machines of 64 bits. */
static const struct structure structures[MEMORY_FORMS] = {
	[MEMORY_STATX] = { "statx", 48, true, MEMBERS(statx_members) },
};

static uint64_t number_of(const struct member *member, const uint8_t *bytes)
{
	switch (member->bytes) {
	case 2:
		return number_load16(bytes + member->at);
	case 4:
		return number_load32(bytes + member->at);
	default:
		return number_load64(bytes + member->at);
	}
}

static void put_member(const struct structure *structure, const struct syscall_machine *machine,
		       const struct member *member, const uint8_t *bytes, struct view_buffer *out)
{
	const uint64_t value = number_of(member, bytes);

	view_buffer_print(out, "%s=", member->name);
	switch (member->kind) {
	case MEMBER_WORDS:
		word_text_put(out, word_text_find(machine, structure->call, member->name), value, false);
		break;
	case MEMBER_MODE:
		word_text_mode(out, (uint32_t)value);
		break;
	default:
		view_buffer_print(out, "%" PRIu64, value);
	}
}

bool structure_text(enum memory_form form, const struct syscall_machine *machine, const uint8_t *bytes,
		    size_t count, struct view_buffer *out)
{
	const struct structure *structure = &structures[form];

	if (!structure->count || count < structure->bytes || (structure->call && !machine))
		return false;
	for (unsigned n = 0; n < structure->count; n++) {
		view_buffer_print(out, n ? ", " : "{");
		put_member(structure, machine, &structure->members[n], bytes, out);
	}
	view_buffer_print(out, structure->more ? ", ...}" : "}");
	return true;
}

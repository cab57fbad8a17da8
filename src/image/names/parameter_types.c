/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Types of parameters; see parameter_types.h. */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "image/names/dwarf_text.h"
#include "image/names/parameter_types.h"
#include "wire/wire_enum.h"

enum {
	DEPTH_MAX = 64,	     /* of types in types */
	MEMBERS_MAX = 4096,  /* of a type, and of those in it */
	LANGUAGE_C17 = 0x2c, /* newer than DWARF 5 */
};

bool parameter_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	bool found = dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type);

	for (unsigned n = 0; found && n < DEPTH_MAX; n++)
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			found = dwarf_formref_die(dwarf_attr(type, DW_AT_type, &attribute), type);
			break;
		default:
			return true;
		}
	return false;
}

uint64_t parameter_number(Dwarf_Die *die, unsigned name, uint64_t absent)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute))
		return absent;
	return dwarf_formudata(&attribute, &value) == 0 ? value : UINT64_MAX;
}

static uint64_t parameter_types_bytes_of(Dwarf_Die *type)
{
	return parameter_number(type, DW_AT_byte_size, UINT64_MAX);
}

static bool parameter_types_is_named(Dwarf_Die *type, const char *wanted)
{
	const char *name = dwarf_text_name(type);

	return name && strcmp(name, wanted) == 0;
}

static void parameter_types_merge(struct value *value, unsigned half, enum passing passing)
{
	enum passing *with = &value->halves[half];
	const bool mixed = *with && passing && *with != passing && (*with == X87 || passing == X87);

	if (passing > *with)
		*with = passing;
	if (mixed && *with < MEMORY)
		*with = MEMORY;
}

/* Bytes of one kind in a value. Unaligned ones are passed in memory. */
static void parameter_types_put(struct value *value, uint64_t at, uint64_t bytes, enum passing passing)
{
	if (at >= 16 || bytes > 16 - at)
		passing = UNKNOWN;
	else if (at % bytes)
		passing = MEMORY;
	parameter_types_merge(value, at >= 8 && at < 16, passing);
	if (bytes == 16)
		parameter_types_merge(value, 1, passing);
}

static void classify_base(struct value *value, Dwarf_Die *type, uint64_t at)
{
	const uint64_t encoding = parameter_number(type, DW_AT_encoding, UINT64_MAX),
		       bytes = parameter_types_bytes_of(type);
	const bool is_power = bytes && bytes <= 16 && !(bytes & (bytes - 1));

	switch (is_power ? encoding : UINT64_MAX) {
	case DW_ATE_boolean:
	case DW_ATE_signed:
	case DW_ATE_signed_char:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		parameter_types_put(value, at, bytes, INTEGER);
		break;
	case DW_ATE_float:
		parameter_types_put(value, at, bytes,
				    bytes <= 8					    ? SSE
				    : parameter_types_is_named(type, "long double") ? X87
										    : UNKNOWN);
		break;
	case DW_ATE_complex_float:
		parameter_types_put(value, at, 4, bytes >= 8 ? SSE : UNKNOWN);
		parameter_types_put(value, at + bytes / 2, 4, SSE);
		break;
	default:
		parameter_types_merge(value, 0, UNKNOWN);
		break;
	}
}

static void parameter_types_classify(struct value *value, Dwarf_Die *type, uint64_t at, unsigned depth);

bool parameter_next(Dwarf_Die *die)
{
	const void *was = die->addr;

	return dwarf_siblingof(die, die) == 0 && (const char *)die->addr > (const char *)was;
}

/* @first: the first bit, from @at, which in the form of DWARF 3 is that of the unit around the bits; its size is @unit */
static void classify_bits(struct value *value, uint64_t at, uint64_t first, uint64_t bits, uint64_t unit)
{
	if (at >= 16 || first >= 128 - 8 * at || first % 64 + bits > 64 || !unit || at % unit)
		parameter_types_merge(value, 0, UNKNOWN);
	else
		parameter_types_merge(value, (at + first / 8) / 8, INTEGER);
}

static void classify_member(struct value *value, Dwarf_Die *member, uint64_t at, unsigned depth)
{
	const uint64_t bits = parameter_number(member, DW_AT_bit_size, 0);
	Dwarf_Die type;

	at += parameter_number(member, DW_AT_data_member_location, 0);
	if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration))
		return; /* a static one */
	if (bits)
		classify_bits(value, at, parameter_number(member, DW_AT_data_bit_offset, 0), bits,
			      parameter_number(member, DW_AT_byte_size, 1));
	else if (at < 16 && parameter_type(member, &type))
		parameter_types_classify(value, &type, at, depth);
	else
		parameter_types_merge(value, 0, UNKNOWN);
}

static void classify_members(struct value *value, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	Dwarf_Die member;
	bool more = dwarf_child(type, &member) == 0;

	for (; more; more = parameter_next(&member)) {
		const int tag = dwarf_tag(&member);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (++value->members > MEMBERS_MAX || dwarf_hasattr(&member, DW_AT_virtuality)) {
			parameter_types_merge(value, 0, UNKNOWN);
			return;
		}
		classify_member(value, &member, at, depth);
	}
}

bool parameter_is_cxx(Dwarf_Die *die)
{
	Dwarf_Die unit;

	switch (dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case LANGUAGE_C17:
		return false;
	default:
		return true;
	}
}

/* Whether a method has a name, without template arguments: of two constructors, "pair" and "pair<int, int>". */
static bool parameter_types_is_called(Dwarf_Die *method, const char *name)
{
	const char *own = dwarf_text_name(method);
	const size_t bytes = strcspn(name, "<");

	return own && strcspn(own, "<") == bytes && strncmp(own, name, bytes) == 0;
}

/* Whether a method's first argument is a reference to the class: of a constructor, it copies or moves. */
static bool takes_reference(Dwarf_Die *method, Dwarf_Die *class)
{
	Dwarf_Die die, type, target;
	bool more = dwarf_child(method, &die) == 0;

	for (; more; more = parameter_next(&die)) {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter || dwarf_hasattr(&die, DW_AT_artificial))
			continue;
		return parameter_type(&die, &type) &&
		       (dwarf_tag(&type) == DW_TAG_reference_type ||
			dwarf_tag(&type) == DW_TAG_rvalue_reference_type) &&
		       parameter_type(&type, &target) && target.addr == class->addr;
	}
	return false;
}

/*
 * How a class of C++ is passed: DW_CC_pass_by_value, DW_CC_pass_by_reference, or 0: unknown. clang reports it. gcc does not: by
 * reference if copying, moving or destroying it is the work of a function, its own or that of a part.
 */
static unsigned convention_of(struct value *value, Dwarf_Die *class, unsigned depth);

static unsigned convention_of_method(Dwarf_Die *method, Dwarf_Die *class, const char *name)
{
	const char *own = dwarf_text_name(method);
	const bool destroys = own && *own == '~';

	if (dwarf_hasattr(method, DW_AT_virtuality))
		return DW_CC_pass_by_reference;
	if (dwarf_hasattr(method, DW_AT_artificial))
		return DW_CC_pass_by_value; /* it does what those of the parts do */
	if (!destroys && !(name && parameter_types_is_called(method, name) && takes_reference(method, class)))
		return DW_CC_pass_by_value;
	if (dwarf_hasattr(method, DW_AT_deleted))
		return 0; /* there may be another one */
	return parameter_number(method, DW_AT_defaulted, DW_DEFAULTED_no) == DW_DEFAULTED_in_class
		       ? DW_CC_pass_by_value
		       : DW_CC_pass_by_reference;
}

/* Of a base or a member, that of its class. */
static unsigned convention_of_part(struct value *value, Dwarf_Die *part, unsigned depth)
{
	Dwarf_Die type;

	if (dwarf_hasattr(part, DW_AT_virtuality))
		return DW_CC_pass_by_reference;
	if (dwarf_hasattr(part, DW_AT_external) || dwarf_hasattr(part, DW_AT_declaration))
		return DW_CC_pass_by_value; /* a static member */
	if (!parameter_type(part, &type))
		return 0;
	for (unsigned n = 0; n < DEPTH_MAX && dwarf_tag(&type) == DW_TAG_array_type; n++) {
		Dwarf_Die element;

		if (!parameter_type(&type, &element))
			return 0;
		type = element;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return convention_of(value, &type, depth + 1);
	default:
		return DW_CC_pass_by_value;
	}
}

static unsigned convention_of(struct value *value, Dwarf_Die *class, unsigned depth)
{
	const char *name = dwarf_text_name(class);
	unsigned found = DW_CC_pass_by_value;
	Dwarf_Die die;
	bool more = dwarf_child(class, &die) == 0;

	if (!parameter_is_cxx(class))
		return DW_CC_pass_by_value;
	if (dwarf_hasattr(class, DW_AT_calling_convention))
		return (unsigned)parameter_number(class, DW_AT_calling_convention, 0);
	if (depth >= DEPTH_MAX || dwarf_hasattr(class, DW_AT_declaration))
		return 0;
	for (; more && found == DW_CC_pass_by_value; more = parameter_next(&die)) {
		const int tag = dwarf_tag(&die);

		if (++value->members > MEMBERS_MAX)
			return 0;
		if (tag == DW_TAG_subprogram)
			found = convention_of_method(&die, class, name);
		else if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			found = convention_of_part(value, &die, depth);
	}
	return found;
}

static void classify_class(struct value *value, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	const unsigned convention = depth ? DW_CC_pass_by_value : convention_of(value, type, 0);
	const uint64_t bytes = parameter_types_bytes_of(type);

	if (!depth)
		value->members = 0;
	if (convention == DW_CC_pass_by_reference)
		value->by_reference = true;
	else if (convention != DW_CC_pass_by_value || dwarf_hasattr(type, DW_AT_declaration) ||
		 bytes == UINT64_MAX)
		parameter_types_merge(value, 0, UNKNOWN);
	else if (bytes > 16)
		parameter_types_merge(value, 0, MEMORY);
	else
		classify_members(value, type, at, depth + 1);
}

/* The elements of an array in a structure. */
static void classify_array(struct value *value, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	Dwarf_Word all, one;
	Dwarf_Die element;

	if (dwarf_hasattr(type, DW_AT_GNU_vector) || !parameter_type(type, &element) ||
	    dwarf_aggregate_size(type, &all) != 0 || dwarf_aggregate_size(&element, &one) != 0 || !one ||
	    all > 16) {
		parameter_types_merge(value, 0, UNKNOWN);
		return;
	}
	for (uint64_t n = 0; n < all / one; n++)
		parameter_types_classify(value, &element, at + n * one, depth + 1);
}

static void classify_enumeration(struct value *value, Dwarf_Die *type, uint64_t at)
{
	const uint64_t bytes = parameter_types_bytes_of(type);

	if (bytes && bytes <= 8)
		parameter_types_put(value, at, bytes, INTEGER);
	else
		parameter_types_merge(value, 0, UNKNOWN);
}

static void parameter_types_classify(struct value *value, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	const int tag = depth < DEPTH_MAX && ++value->members <= MEMBERS_MAX ? dwarf_tag(type) : 0;

	switch (tag) {
	case DW_TAG_base_type:
		classify_base(value, type, at);
		break;
	case DW_TAG_enumeration_type:
		classify_enumeration(value, type, at);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type: /* of nullptr */
		parameter_types_put(value, at, 8, INTEGER);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		classify_class(value, type, at, depth);
		break;
	case DW_TAG_array_type:
		classify_array(value, type, at, depth);
		break;
	default:
		parameter_types_merge(value, 0, UNKNOWN);
		break;
	}
}

struct value parameter_value(Dwarf_Die *type)
{
	struct value value = { 0 };

	parameter_types_classify(&value, type, 0, 0);
	return value;
}

bool parameter_has(const struct value *value, enum passing passing)
{
	return value->halves[0] == passing || value->halves[1] == passing;
}

/* "i32" */
static void parameter_types_put_number(char out[4], char letter, uint64_t bytes)
{
	if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
		snprintf(out, 4, "%c%u", letter, (unsigned)bytes * 8);
}

static char letter_of(uint64_t encoding)
{
	return encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF
		       ? 'u'
		       : 'i';
}

static bool is_char(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && parameter_types_bytes_of(type) == 1 &&
	       parameter_types_is_named(type, "char");
}

static void describe_base(Dwarf_Die *type, char out[4])
{
	const uint64_t encoding = parameter_number(type, DW_AT_encoding, 0),
		       bytes = parameter_types_bytes_of(type);

	if (encoding == DW_ATE_float)
		strcpy(out, bytes == 4 ? "f" : bytes == 8 ? "d" : "");
	else if (encoding == DW_ATE_boolean)
		strcpy(out, bytes == 1 ? "b" : "");
	else if (is_char(type))
		strcpy(out, "c");
	else if (encoding != DW_ATE_complex_float)
		parameter_types_put_number(out, letter_of(encoding), bytes);
}

void parameter_letters(Dwarf_Die *type, char out[4])
{
	Dwarf_Die target;

	*out = 0;
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		describe_base(type, out);
		break;
	case DW_TAG_enumeration_type:
		parameter_types_put_number(
			out,
			letter_of(parameter_number(parameter_type(type, &target) ? &target : type,
						   DW_AT_encoding, 0)),
			parameter_types_bytes_of(type));
		break;
	case DW_TAG_pointer_type:
		strcpy(out, parameter_type(type, &target) && is_char(&target) ? "s" : "p");
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:
		strcpy(out, "p");
		break;
	default:
		break;
	}
}

/* Return: false: the value has no place in the form of a label. */
static bool parameter_types_value_of(Dwarf_Die *enumerator, bool has_sign, int64_t *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword number;
	Dwarf_Word positive;

	if (!dwarf_attr(enumerator, DW_AT_const_value, &attribute))
		return false;
	if (has_sign) {
		*value = dwarf_formsdata(&attribute, &number) == 0 ? number : 0;
		return true;
	}
	*value = dwarf_formudata(&attribute, &positive) == 0 ? (int64_t)positive : -1;
	return *value >= 0;
}

static bool parameter_types_is_label(const char *name)
{
	return name && *name && strlen(name) <= WIRE_ENUM_LABEL_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
		       strlen(name);
}

void parameter_labels(Dwarf_Die *type, char *out, size_t room)
{
	char letters[4];
	Dwarf_Die die;
	size_t used = 0;
	bool more = dwarf_tag(type) == DW_TAG_enumeration_type && dwarf_child(type, &die) == 0;

	*out = 0;
	parameter_letters(type, letters);
	for (unsigned n = 0; more && n < MEMBERS_MAX; n++, more = parameter_next(&die)) {
		const char *name = dwarf_tag(&die) == DW_TAG_enumerator ? dwarf_text_name(&die) : NULL;
		int64_t value;

		if (!parameter_types_is_label(name) ||
		    !parameter_types_value_of(&die, *letters == 'i', &value))
			continue;
		used += (size_t)snprintf(out + used, room - used, "%c%s=%" PRId64, used ? ' ' : '{', name,
					 value);
		if (used + sizeof("}") > room) {
			*out = 0;
			return;
		}
	}
	if (used)
		strcpy(out + used, "}");
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parameters of functions, from DWARF; see parameters.h. */
#include <dwarf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "image/names/dwarf_text.h"
#include "image/names/parameter_types.h"
#include "image/names/parameters.h"

enum {
	DEPTH_MAX = 64, /* of nested DIEs */
	SEEN_MAX = 64,	/* parameters of a function */
	PLACE_MAX = 64, /* the last place that a description can name */
	INTEGERS = 6,	/* registers */
	VECTORS = 8,
	LOCATIONS_MAX = 1000,  /* of a parameter */
	HOOK_BYTES = 16,       /* before them, no register has changed */
	REGISTER_VECTOR = 17,  /* DWARF's number of xmm0 */
	LANGUAGE_CXX17 = 0x2a, /* newer than DWARF 5 */
	LANGUAGE_CXX20 = 0x2b,
	LANGUAGE_C17 = 0x2c,
};

/* ---- places */

/* While the parameters of a function are described. */
struct function {
	Dwarf_Die *die;
	uint64_t entry;
	unsigned integers, vectors, slots; /* places that are taken */
	bool lost;			   /* what lies on the stack is not known any more */
	bool by_location;		   /* nor what lies in registers, other than by locations */
	unsigned seen, count;		   /* parameters, and those in the description */
	size_t labels;			   /* bytes of labels in the description */
	char spec[PARAMETERS_SPEC_MAX];
	char names[PARAMETERS_MAX][PARAMETERS_NAME_MAX + 1];
};

/* A parameter: in the declaration that has all of them, in their order, and where it is. */
struct parameter {
	Dwarf_Die declared, here;
	bool is_here;
};

/* The place of a parameter. @number: as a SPEC has it; 0: it has none. @code: DWARF's number of the register, or -1 */
struct place {
	unsigned number;
	int code;
};

static struct place parameters_take_stack(struct function *function, unsigned registers)
{
	const unsigned number = registers + ++function->slots;

	return (struct place){ number > PLACE_MAX ? 0 : number, -1 };
}

/* DWARF's numbers of the registers of integers, in their order. */
static const int codes[INTEGERS] = { 5, 4, 1, 2, 8, 9 };

static struct place parameters_take_place(struct function *function, const struct value *value)
{
	const unsigned integers = value->by_reference
					  ? 1
					  : (value->halves[0] == INTEGER) + (value->halves[1] == INTEGER),
		       vectors = value->by_reference ? 0
						     : (value->halves[0] == SSE) + (value->halves[1] == SSE);
	const unsigned integer = function->integers, vector = function->vectors;
	const struct place none = { 0, -1 };

	if (!value->by_reference && (parameter_has(value, MEMORY) || parameter_has(value, X87))) {
		function->lost = true; /* it may be aligned to more than a slot */
		return none;
	}
	if (integer + integers > INTEGERS || vector + vectors > VECTORS) {
		function->by_location =
			integers + vectors > 1; /* older versions of clang divide some of them */
		return function->lost || function->by_location
			       ? none
			       : parameters_take_stack(function, integers ? INTEGERS : VECTORS);
	}
	function->integers += integers;
	function->vectors += vectors;
	if (integers + vectors != 1)
		return none;
	return integers ? (struct place){ integer + 1, codes[integer] }
			: (struct place){ vector + 1, REGISTER_VECTOR + (int)vector };
}

/*
 * The register of an expression, "DW_OP_breg1 0, DW_OP_convert ..., DW_OP_stack_value", too. Return: -1: it is elsewhere, or
 * in several parts; -2: it is a constant, or unknown.
 */
static int register_of(const Dwarf_Op *operations, size_t count)
{
	const unsigned first = operations->atom;

	if (count == 1 && first >= DW_OP_reg0 && first <= DW_OP_reg31)
		return (int)first - DW_OP_reg0;
	if (operations[count - 1].atom != DW_OP_stack_value)
		return first == DW_OP_implicit_value ? -2 : -1;
	return first >= DW_OP_breg0 && first <= DW_OP_breg31 && !operations->number ? (int)first - DW_OP_breg0
										    : -2;
}

/* Where a parameter is when a function begins. */
struct location {
	int code; /* as register_of(); without a location -2: compilers pass something else, or nothing, if it is not used */
	bool exact; /* already at the first instruction */
};

/* clang's lists of locations begin behind the NOPs or the call of the hook. */
static struct location parameters_find_location(struct parameter *parameter, uint64_t entry)
{
	struct location found = { -2, false };
	Dwarf_Attribute attribute;
	Dwarf_Addr base, begin, end, first = UINT64_MAX;
	Dwarf_Op *operations;
	size_t count;
	ptrdiff_t at = 0;

	if (!parameter->is_here || !dwarf_attr(&parameter->here, DW_AT_location, &attribute))
		return found;
	for (unsigned n = 0; n < LOCATIONS_MAX; n++) {
		at = dwarf_getlocations(&attribute, at, &base, &begin, &end, &operations, &count);
		if (at <= 0)
			break;
		if (!count || begin >= first || begin > entry + HOOK_BYTES || end <= entry)
			continue;
		first = begin;
		found = (struct location){ register_of(operations, count), begin <= entry };
	}
	return found;
}

/* The place that a location alone shows. */
static struct place parameters_place_of(const struct location *location, char letter)
{
	const bool is_vector = letter == 'f' || letter == 'd';
	const int vector = location->code - REGISTER_VECTOR;

	if (location->exact && is_vector && vector >= 0 && vector < VECTORS)
		return (struct place){ (unsigned)vector + 1, location->code };
	for (unsigned n = 0; location->exact && !is_vector && n < INTEGERS; n++)
		if (codes[n] == location->code)
			return (struct place){ n + 1, location->code };
	return (struct place){ 0, -1 };
}

/* ---- functions */

/* A name that no other parameter has, in the letters of a SPEC. */
static const char *name_parameter(struct function *function, Dwarf_Die *die, unsigned number)
{
	static const char *const reserved[] = { "function", "start",	"start_high",
						"depth",    "returned", "retval" };
	const char *given = dwarf_text_name(die);
	char *name = function->names[function->count];
	bool taken = !given || !*given;

	snprintf(name, PARAMETERS_NAME_MAX + 1, "%s", taken ? "_" : given);
	for (char *at = name; *at; at++)
		if (!(*at >= '0' && *at <= '9' && at > name) && !((*at | 32) >= 'a' && (*at | 32) <= 'z'))
			*at = '_';
	for (unsigned n = 0; n < sizeof(reserved) / sizeof(*reserved); n++)
		taken |= strcmp(name, reserved[n]) == 0;
	taken |= *name == '_' && name[1] >= '0' && name[1] <= '9'; /* which another one may get below */
	for (unsigned n = 0; n < function->count; n++)
		taken |= strcmp(name, function->names[n]) == 0;
	if (taken)
		snprintf(name, PARAMETERS_NAME_MAX + 1, "_%u", number);
	return name;
}

static void parameters_append(struct function *function, const char *text)
{
	const size_t used = strlen(function->spec);

	snprintf(function->spec + used, sizeof(function->spec) - used, "%s%s", used ? "," : "", text);
}

/* Return: false: the parameter is not where the ABI puts it. */
static bool describe_parameter(struct function *function, struct parameter *parameter, Dwarf_Die *type,
			       unsigned number)
{
	const struct value value = parameter_value(type);
	const struct location location = parameters_find_location(parameter, function->entry);
	struct place place = { 0, -1 };
	char letters[4] = "p", text[64 + PARAMETERS_LABELS_MAX], labels[PARAMETERS_LABELS_MAX] = "";

	function->by_location |=
		parameter_has(&value, UNKNOWN); /* nor are the places of those behind it known */
	if (!function->by_location)
		place = parameters_take_place(function, &value);
	if (place.number && location.code >= 0 && location.code != place.code)
		return false;
	if (!value.by_reference)
		parameter_letters(type, letters);
	if (*letters == 'f' && !parameter_is_cxx(function->die) &&
	    !dwarf_hasattr_integrate(function->die, DW_AT_prototyped))
		return true; /* a definition in the old style: it is passed as a double */
	if (function->by_location)
		place = parameters_place_of(&location, *letters);
	if (!place.number || !*letters || location.code == -2 || function->count == PARAMETERS_MAX)
		return true;
	if (!value.by_reference)
		parameter_labels(type, labels, PARAMETERS_LABELS_MAX - function->labels);
	function->labels += strlen(labels);
	snprintf(text, sizeof(text), "%s/%s%s%%%u", name_parameter(function, &parameter->declared, number),
		 letters, labels, place.number);
	function->count++;
	parameters_append(function, text);
	return true;
}

static unsigned add_parameters(struct parameter *list, unsigned count, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	bool more = dwarf_child(parent, &die) == 0;

	for (; more && count < SEEN_MAX; more = parameter_next(&die)) {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter)
			list[count++] = (struct parameter){ die, die, true };
		else if (dwarf_tag(&die) == DW_TAG_GNU_formal_parameter_pack && !depth)
			count = add_parameters(list, count, &die, depth + 1);
	}
	return count;
}

/*
 * The parameters of a function. A function that was also inlined has an abstract DIE with all of them; its own DIE may lack
 * some, or have them in another order.
 */
static unsigned find_parameters(struct parameter *list, Dwarf_Die *die)
{
	struct parameter own[SEEN_MAX];
	Dwarf_Attribute attribute;
	Dwarf_Die origin;
	unsigned count, owns;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &origin))
		return add_parameters(list, 0, die, 0);
	owns = add_parameters(own, 0, die, 0);
	count = add_parameters(list, 0, &origin, 0);
	for (unsigned n = 0; n < count; n++) {
		list[n].is_here = false;
		for (unsigned m = 0; m < owns && !list[n].is_here; m++) {
			Dwarf_Die of;

			if (!dwarf_formref_die(dwarf_attr(&own[m].here, DW_AT_abstract_origin, &attribute),
					       &of) ||
			    of.addr != list[n].declared.addr)
				continue;
			list[n].here = own[m].here;
			list[n].is_here = true;
		}
	}
	return count;
}

/* Return: as describe_parameter(). */
static bool describe_parameters(struct function *function)
{
	struct parameter list[SEEN_MAX];

	function->seen = find_parameters(list, function->die);
	for (unsigned n = 0; n < function->seen; n++) {
		Dwarf_Die type;

		/* Those of constructors are not passed to each of their clones. */
		function->by_location |= n && dwarf_hasattr_integrate(&list[n].declared, DW_AT_artificial);
		if (!parameter_type(&list[n].declared, &type))
			return true;
		if (!describe_parameter(function, &list[n], &type, n + 1))
			return false;
	}
	return true;
}

/* The result. One in memory has its address as a hidden first argument. Return: false: it is not known whether there is one. */
static bool parameters_describe_result(struct function *function, char letters[4],
				       char labels[PARAMETERS_LABELS_MAX])
{
	struct value value;
	Dwarf_Die type;

	*letters = *labels = 0;
	if (!parameter_type(function->die, &type))
		return true;
	value = parameter_value(&type);
	function->integers += value.by_reference || parameter_has(&value, MEMORY);
	if (!value.by_reference) {
		parameter_letters(&type, letters);
		parameter_labels(&type, labels, PARAMETERS_LABELS_MAX);
	}
	return !parameter_has(&value, UNKNOWN);
}

/* Whether the name of its symbol, or its own attribute, shows that it has another convention than in the source. */
static bool has_other_convention(Dwarf_Die *die, const struct symbols *symbols, uint64_t entry)
{
	static const char *const marks[] = { ".isra.", ".constprop.",	".part.",
					     ".cold",  ".specialized.", "_ZGV" };
	const struct symbol *symbol = symbols_find(symbols, entry);

	for (unsigned n = 0; symbol && n < sizeof(marks) / sizeof(*marks); n++)
		if (memmem(symbol->name, symbol->bytes, marks[n], strlen(marks[n])))
			return true;
	return parameter_number(die, DW_AT_calling_convention, DW_CC_normal) != DW_CC_normal;
}

/* Whether a function can be called from elsewhere. The symbol comes first: linking with optimization makes functions local. */
static bool is_external(Dwarf_Die *die, const struct symbols *symbols, uint64_t entry)
{
	const struct symbol *symbol = symbols_find(symbols, entry);

	return symbol && symbol->address == entry ? !symbol->local
						  : dwarf_hasattr_integrate(die, DW_AT_external);
}

/* Optimizing, clang drops the result of a function that is local, if nothing uses it. */
static bool may_lack_result(Dwarf_Die *die, const struct symbols *symbols, uint64_t entry)
{
	Dwarf_Attribute attribute;
	const char *producer;
	Dwarf_Die unit;

	if (is_external(die, symbols, entry) ||
	    !(dwarf_hasattr(die, DW_AT_call_all_calls) || dwarf_hasattr(die, DW_AT_GNU_all_call_sites)) ||
	    !dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	producer = dwarf_text(dwarf_attr(&unit, DW_AT_producer, &attribute));
	return !producer || strstr(producer, "clang");
}

struct walk {
	const struct symbols *symbols;
	bool places_known; /* in this processor's ABI, and this language's */
	void (*found)(void *data, uint64_t address, const char *spec, const char *file);
	void *data;
};

/* Return: false: it has neither parameters nor a result. */
static bool describe_function(const struct walk *walk, struct function *function)
{
	char result[4], labels[PARAMETERS_LABELS_MAX], text[16 + PARAMETERS_LABELS_MAX];
	bool other = has_other_convention(function->die, walk->symbols, function->entry);

	function->by_location = !parameters_describe_result(function, result, labels) || other;
	if (!describe_parameters(function)) {
		other = true;
		*function = (struct function){ .die = function->die,
					       .entry = function->entry,
					       .by_location = true };
		describe_parameters(function);
	}
	if (*result && !other && !may_lack_result(function->die, walk->symbols, function->entry)) {
		snprintf(text, sizeof(text), "retval/%s%s", result,
			 strlen(labels) + function->labels < PARAMETERS_LABELS_MAX ? labels : "");
		parameters_append(function, text);
	}
	return function->seen || *result;
}

/* Of DWARF 5, elfutils takes the first file, number 0, for none; clang gives a unit's own file that number. */
static const char *file_of(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Half version;
	Dwarf_Die unit;
	size_t count;

	if (file || !dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
	    dwarf_formudata(&attribute, &number) != 0 || number ||
	    dwarf_cu_info(attribute.cu, &version, NULL, &unit, NULL, NULL, NULL, NULL) != 0 || version < 5 ||
	    dwarf_getsrcfiles(&unit, &files, &count) != 0 || !count)
		return file;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

/* Calls of its name are calls of a function that it finds, of which nothing is known. */
static bool is_resolver(const struct walk *walk, uint64_t entry)
{
	const struct symbol *symbol = symbols_find(walk->symbols, entry);

	return symbol && symbol->address == entry && symbol->resolver;
}

static void parameters_visit_function(const struct walk *walk, Dwarf_Die *die)
{
	struct function function = { .die = die };
	const char *file = file_of(die);
	Dwarf_Addr base, end;
	bool described;

	if (dwarf_ranges(die, 0, &base, &function.entry, &end) <= 0)
		return; /* it has no code */
	described = walk->places_known &&
		    (is_resolver(walk, function.entry) || describe_function(walk, &function));
	if (described || file)
		walk->found(walk->data, function.entry, described ? function.spec : NULL, file);
}

static void parameters_walk_children(const struct walk *walk, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	bool more = depth < DEPTH_MAX && dwarf_child(parent, &die) == 0;

	for (; more; more = parameter_next(&die))
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			parameters_visit_function(walk, &die);
			parameters_walk_children(walk, &die,
						 depth + 1); /* lambdas, and methods of local classes */
			break;
		case DW_TAG_namespace:
		case DW_TAG_lexical_block:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			parameters_walk_children(walk, &die, depth + 1);
			break;
		default:
			break;
		}
}

/* Other languages have other conventions. */
static bool parameters_is_known(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case LANGUAGE_C17:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANGUAGE_CXX17:
	case LANGUAGE_CXX20:
		return true;
	default:
		return false;
	}
}

void parameters_find(Dwarf *dwarf, const struct symbols *symbols, bool places_known,
		     void (*found)(void *data, uint64_t address, const char *spec, const char *file),
		     void *data)
{
	struct walk walk = { .symbols = symbols, .found = found, .data = data };
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	uint8_t type;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, &split) == 0) {
		Dwarf_Die *code = split.addr ? &split : &unit;

		walk.places_known = places_known && parameters_is_known(code);
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			parameters_walk_children(&walk, code, 0);
	}
}

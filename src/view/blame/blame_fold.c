/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Folding of samples; see blame_fold.h.
 *
 * The distance of a function is how many functions of the program are between it and the innermost one, on average. The stacks of a probed
 * function may end at it, since the kernel's probe of its return hides the return address, so distances count from the inner end.
 */
#include "view/blame/blame_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "view/blame/blame_parts.h"

enum {
	CHAIN = 3,   /* functions that a text names */
	FRAMES = 80, /* of a stack; blame_parts.c keeps fewer */
};

/* A part in both sets. */
struct fold_part {
	uint64_t slow; /* weight in the slowest spans */
	double more;   /* ns, on average of a span, by which it is more in these */
	bool used;     /* by a vector of a set */
	bool below;    /* the common function is in its stack */
	uint32_t into; /* the part that it becomes; 0: it stays */
};

/* A function of any stack. */
struct fold_function {
	uint32_t name; /* string */
	double more, weight, distance;
};

struct folder {
	struct blame_fold *fold;
	struct blame *blame;
	struct blame_set slow, band;
	struct fold_part *parts;
	size_t part_count;
	struct fold_function *functions;
	size_t function_count, function_room;
	struct hash_table numbers; /* of functions, by name */
	double more;		   /* of all samples */
};

/* ---- Stacks */

/* The next known function of a stack. @at: "" at its end. Return: a string; 0: there are no more. */
static uint32_t next_function(struct blame *blame, const char **at)
{
	char name[BLAME_TEXT];
	size_t bytes;

	*at += **at == '\n'; /* the innermost function is unknown */
	bytes = strcspn(*at, "\n");
	if (!bytes || bytes >= sizeof(name))
		return 0;
	memcpy(name, *at, bytes);
	name[bytes] = 0;
	*at += bytes + ((*at)[bytes] == '\n');
	return view_string(blame->strings, name);
}

static const char *stack_of(const struct blame *blame, uint32_t part)
{
	return blame->strings->texts[blame->parts[part].callers];
}

/* Whether a function is in the stack of a part. */
static bool stack_has(struct blame *blame, uint32_t part, uint32_t function)
{
	const char *at = stack_of(blame, part);
	uint32_t name;

	while ((name = next_function(blame, &at)))
		if (name == function)
			return true;
	return false;
}

/* ---- Both sets */

/* Add the time of a set's parts: its samples share the time that it ran. @sign: -1 for the band */
static void add_set(struct folder *folder, struct blame_set set, double sign)
{
	const struct blame *blame = folder->blame;
	double weights = 0, running = 0;

	for (size_t n = 0; n < set.count; n++) {
		const struct blame_vector *vector = set.vectors[n];

		running += (double)vector->running;
		for (size_t at = 0; at < vector->count; at++)
			if (blame_is_sampled(&blame->parts[vector->shares[at].part])) {
				weights += (double)vector->shares[at].number;
				folder->parts[vector->shares[at].part].used = true;
			}
	}
	folder->more += set.count ? sign * running / (double)set.count : 0;
	for (size_t n = 0; n < set.count && weights > 0; n++)
		for (size_t at = 0; at < set.vectors[n]->count; at++) {
			const struct blame_share *share = &set.vectors[n]->shares[at];
			struct fold_part *part = &folder->parts[share->part];

			if (!blame_is_sampled(&blame->parts[share->part]))
				continue;
			part->more += sign * running / (double)set.count * (double)share->number / weights;
			part->slow += sign > 0 ? share->number : 0;
		}
}

/* ---- The common function */

/* Return: NULL: no memory. */
static struct fold_function *find_function(struct folder *folder, uint32_t name)
{
	const uint64_t hash = hash_pair(name, 0);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&folder->numbers, hash, &at));)
		if (folder->functions[number - 1].name == name)
			return &folder->functions[number - 1];
	if (!name || !array_reserve(folder->functions, folder->function_room, folder->function_count + 1) ||
	    !hash_table_reserve(&folder->numbers))
		return NULL;
	folder->functions[folder->function_count] = (struct fold_function){ .name = name };
	hash_table_add(&folder->numbers, hash, (uint32_t)++folder->function_count);
	return &folder->functions[folder->function_count - 1];
}

/* Add a part to each function of its stack, once. */
static int add_stack(struct folder *folder, uint32_t number)
{
	const struct fold_part *part = &folder->parts[number];
	const char *at = stack_of(folder->blame, number);
	uint32_t seen[FRAMES], name;
	unsigned count = 0, known;

	while (count < FRAMES && (name = next_function(folder->blame, &at))) {
		struct fold_function *function = find_function(folder, name);

		if (!function)
			return -ENOMEM;
		for (known = 0; known < count && seen[known] != name; known++)
			;
		if (known == count) {
			function->more += part->more;
			function->weight += (double)part->slow;
			function->distance += (double)part->slow * count;
		}
		seen[count++] = name;
	}
	return 0;
}

static int nearest_first(const void *a, const void *b)
{
	const struct fold_function *one = a, *other = b;
	const double left = one->distance / one->weight, right = other->distance / other->weight;

	return left < right ? -1 : left > right ? 1 : number_order(one->name, other->name);
}

/* Whether so many of the slowest spans have samples below a function that it is no accident. */
static bool has_spans(struct folder *folder, uint32_t function)
{
	size_t spans = 0;

	for (uint32_t n = 1; n < folder->part_count; n++)
		folder->parts[n].below = folder->parts[n].used && folder->blame->parts[n].callers &&
					 stack_has(folder->blame, n, function);
	for (size_t n = 0; n < folder->slow.count; n++) {
		const struct blame_vector *vector = folder->slow.vectors[n];
		bool below = false;

		for (size_t at = 0; at < vector->count; at++)
			below |= folder->parts[vector->shares[at].part].below;
		spans += below;
	}
	return spans >= FOLD_SPANS_MIN && spans * 2 >= folder->slow.count;
}

/* Find the common function, and the parts that it is in. */
static int find_common(struct folder *folder)
{
	size_t count = 0;

	for (uint32_t n = 1; n < folder->part_count; n++)
		if (folder->parts[n].slow && add_stack(folder, n) != 0)
			return -ENOMEM;
	for (size_t n = 0; n < folder->function_count; n++)
		if (folder->more > 0 && folder->functions[n].more * 100 >= FOLD_SHARE * folder->more)
			folder->functions[count++] = folder->functions[n];
	if (count)
		qsort(folder->functions, count, sizeof(*folder->functions), nearest_first);
	for (size_t n = 0; n < count && !folder->fold->function; n++)
		if (has_spans(folder, folder->functions[n].name))
			folder->fold->function = folder->functions[n].name;
	for (uint32_t n = 1; n < folder->part_count; n++)
		folder->parts[n].below &= folder->fold->function != 0;
	return 0;
}

/* ---- Parts become others */

/* Whether the common function calls others in which samples are. */
static bool has_callees(const struct folder *folder)
{
	for (uint32_t n = 1; n < folder->part_count; n++)
		if (folder->parts[n].below && folder->blame->parts[n].what != folder->fold->function)
			return true;
	return false;
}

static int choose_parts(struct folder *folder)
{
	struct blame *blame = folder->blame;
	const bool callees = has_callees(folder);

	for (uint32_t n = 1; n < folder->part_count; n++) {
		const struct blame_part part = blame->parts[n];
		struct blame_part into = { .kind = part.kind, .what = part.what };

		if (!folder->parts[n].used || !part.callers)
			continue;
		if (folder->parts[n].below) {
			into.what = folder->fold->function;
			into.below = callees;
		}
		folder->parts[n].into = blame_part_find(blame, &into);
		if (!folder->parts[n].into)
			return -ENOMEM;
	}
	return 0;
}

/* The stack of a folded part, from its function on, is that of the heaviest one that was folded into it. */
static int choose_callers(struct folder *folder)
{
	struct blame_fold *fold = folder->fold;
	uint64_t *most;

	fold->room = folder->blame->part_count;
	fold->callers = calloc(fold->room + 1, sizeof(*fold->callers));
	most = calloc(fold->room + 1, sizeof(*most));
	for (uint32_t n = 1; fold->callers && most && n < folder->part_count; n++) {
		const struct fold_part *part = &folder->parts[n];

		if (!part->into || part->slow < most[part->into] ||
		    (!part->slow && fold->callers[part->into]))
			continue;
		most[part->into] = part->slow;
		fold->callers[part->into] = folder->blame->parts[n].callers;
	}
	free(most);
	return fold->callers && most ? 0 : -ENOMEM;
}

static int fold_vector(const struct folder *folder, struct blame_vector *vector)
{
	struct blame_vector folded = { .time = vector->time, .running = vector->running };
	int error = 0;

	for (size_t n = 0; n < vector->count && !error; n++) {
		struct blame_share share = vector->shares[n];

		share.part = folder->parts[share.part].into ?: share.part;
		error = blame_add_share(&folded, &share);
	}
	if (error) {
		blame_vector_free(&folded);
		return error;
	}
	blame_vector_free(vector);
	*vector = folded;
	return 0;
}

static int fold_set(const struct folder *folder, struct blame_set set)
{
	int error = 0;

	for (size_t n = 0; n < set.count && !error; n++)
		error = fold_vector(folder, set.vectors[n]);
	return error;
}

/* ---- Callees */

static int heaviest_callee(const void *a, const void *b)
{
	const struct blame_callee *one = a, *other = b;

	return number_order(other->weight, one->weight) ?: number_order(one->name, other->name);
}

static int find_callees(struct folder *folder)
{
	struct blame_callee *callees = calloc(folder->part_count + 1, sizeof(*callees));
	uint32_t *numbers = calloc((size_t)folder->blame->strings->count + 1, sizeof(*numbers));
	size_t count = 0;

	for (uint32_t n = 1; callees && numbers && n < folder->part_count; n++) {
		const uint32_t what = folder->blame->parts[n].what;

		if (!folder->parts[n].below || !folder->parts[n].slow)
			continue;
		if (!numbers[what]) {
			callees[count].name = what;
			numbers[what] = (uint32_t)++count;
		}
		callees[numbers[what] - 1].weight += folder->parts[n].slow;
		folder->fold->weight += folder->parts[n].slow;
	}
	if (callees && count)
		qsort(callees, count, sizeof(*callees), heaviest_callee);
	for (size_t n = 0; callees && n < count && n < FOLD_CALLEES; n++)
		folder->fold->callees[n] = callees[n];
	free(callees);
	free(numbers);
	return callees && numbers ? 0 : -ENOMEM;
}

/* ---- The whole */

int blame_fold_make(struct blame_fold *fold, struct blame *blame, struct blame_set slow,
		    struct blame_set band)
{
	struct folder folder = {
		.fold = fold, .blame = blame, .slow = slow, .band = band, .part_count = blame->part_count
	};
	int error;

	*fold = (struct blame_fold){ .blame = blame };
	folder.parts = calloc(folder.part_count + 1, sizeof(*folder.parts));
	if (!folder.parts)
		return -ENOMEM;
	add_set(&folder, slow, 1);
	add_set(&folder, band, -1);
	error = band.count ? find_common(&folder) : 0;
	if (!error && fold->function)
		error = find_callees(&folder);
	if (!error)
		error = choose_parts(&folder);
	if (!error)
		error = choose_callers(&folder);
	if (!error)
		error = fold_set(&folder, slow) ?: fold_set(&folder, band);
	free(folder.parts);
	free(folder.functions);
	hash_table_free(&folder.numbers);
	return error;
}

void blame_fold_free(struct blame_fold *fold)
{
	free(fold->callers);
	fold->callers = NULL;
	fold->room = 0;
}

/* ---- Texts */

/* Where the stack of a part has its function. Return: NULL: the part has no stack. */
static const char *chain_of(const struct blame_fold *fold, uint32_t part)
{
	const struct blame *blame = fold->blame;
	const char *name = blame->strings->texts[blame->parts[part].what], *at;
	const size_t bytes = strlen(name);

	if (part >= fold->room || !fold->callers[part])
		return NULL;
	at = blame->strings->texts[fold->callers[part]];
	if (*at == '\n' && !blame->parts[part].below)
		return at;
	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, bytes) && (!at[bytes] || at[bytes] == '\n'))
			return at + bytes;
	}
	return NULL;
}

const char *blame_fold_text(const struct blame_fold *fold, uint32_t part, char text[BLAME_TEXT])
{
	const char *at = chain_of(fold, part);

	blame_text(fold->blame, part, text);
	for (unsigned n = 1; n < CHAIN && at && *at; n++) {
		const size_t bytes = strcspn(++at, "\n"), used = strlen(text);

		if (used + bytes + 4 > BLAME_TEXT)
			break;
		memcpy(text + used, " < ", 3);
		memcpy(text + used + 3, at, bytes);
		text[used + 3 + bytes] = 0;
		at += bytes;
	}
	return text;
}

static void json_name(struct json *json, const char *name, size_t bytes)
{
	char *copy = strndup(name, bytes);

	json_text(json, NULL, copy ? copy : "");
	free(copy);
}

void blame_fold_json(const struct blame_fold *fold, uint32_t part, struct json *json)
{
	const char *at = chain_of(fold, part);

	blame_json(fold->blame, part, json);
	if (at) {
		json_array(json, "stack");
		json_text(json, NULL, fold->blame->strings->texts[fold->blame->parts[part].what]);
		for (unsigned n = 1; n < CHAIN && *at; n++) {
			const size_t bytes = strcspn(++at, "\n");

			json_name(json, at, bytes);
			at += bytes;
		}
		json_end(json);
	}
	if (!fold->blame->parts[part].below)
		return;
	json_bool(json, "below", true);
	if (fold->blame->parts[part].kind != BLAME_RUNNING)
		return;
	json_array(json, "callees");
	for (unsigned n = 0; n < FOLD_CALLEES && fold->callees[n].name; n++)
		json_text(json, NULL, fold->blame->strings->texts[fold->callees[n].name]);
	json_end(json);
}

void blame_fold_callees(const struct blame_fold *fold, uint32_t part, struct view_buffer *out)
{
	if (!fold->blame->parts[part].below)
		return;
	for (unsigned n = 0; n < FOLD_CALLEES && fold->callees[n].name; n++)
		view_buffer_print(out, "%s%s %.0f%%", n ? ", " : "",
				  fold->blame->strings->texts[fold->callees[n].name],
				  100.0 * (double)fold->callees[n].weight / (double)fold->weight);
}

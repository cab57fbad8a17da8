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
#include "view/profile/pairs.h"

enum {
	CHAIN = 3,   /* functions that a text names */
	FRAMES = 80, /* of a stack; blame_parts.c keeps fewer */
	FOLD_EXTRA_MIN =
		10, /* percent: of what the slowest take more, they run, or there is no common function */
};

/* A part that a vector of a set has. */
struct fold_part {
	uint32_t number; /* of the blame's parts */
	uint32_t into;	 /* the part that it becomes; 0: it stays */
	uint64_t slow;	 /* weight in the slowest spans */
	double more;	 /* ns, on average of a span, by which it is more in these */
	bool below;	 /* the common function is in its stack */
};

/* A function of any stack. */
struct fold_function {
	uint32_t name; /* string */
	double more, weight, distance;
	size_t spans, last; /* of the slowest that have a sample of it; the last one of them, from 1 */
};

/* The callers of a folded part, in some of its stacks. */
struct fold_chain {
	uint32_t part;	/* the folded one */
	uint32_t names; /* string: the next functions, a line each */
	uint64_t weight;
};

struct folder {
	struct blame_fold *fold;
	struct blame *blame;
	struct blame_set slow, band;
	struct fold_part *parts; /* the blame's ->fold_numbers has where each one is, from 1 */
	size_t part_count, part_room;
	struct fold_function *functions;
	size_t function_count, function_room;
	struct hash_table numbers; /* of functions, by name */
	struct hash_table chains;  /* numbers of chains, by part and names */
	double more, extra;	   /* of all samples; of all times */
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

static const char *stack_of(const struct folder *folder, const struct fold_part *part)
{
	return folder->blame->strings->texts[folder->blame->parts[part->number].callers];
}

/* Whether a function is in the stack of a part. */
static bool stack_has(struct folder *folder, const struct fold_part *part, uint32_t function)
{
	const char *at = stack_of(folder, part);
	uint32_t name;

	while ((name = next_function(folder->blame, &at)))
		if (name == function)
			return true;
	return false;
}

/* ---- Both sets */

static struct fold_part *find_part(const struct folder *folder, uint32_t number)
{
	return &folder->parts[folder->blame->fold_numbers[number] - 1];
}

/* Number the parts of samples that vectors have: a trace may have many more. */
static int number_parts(struct folder *folder, struct blame_set set)
{
	struct blame *blame = folder->blame;

	if (!array_reserve_zeroed(blame->fold_numbers, blame->fold_room, blame->part_count))
		return -ENOMEM;
	for (size_t n = 0; n < set.count; n++)
		for (size_t at = 0; at < set.vectors[n]->count; at++) {
			const uint32_t number = set.vectors[n]->shares[at].part;

			if (!blame_is_sampled(&blame->parts[number]) || blame->fold_numbers[number])
				continue;
			if (!array_reserve(folder->parts, folder->part_room, folder->part_count + 1))
				return -ENOMEM;
			folder->parts[folder->part_count++] = (struct fold_part){ .number = number };
			blame->fold_numbers[number] = (uint32_t)folder->part_count;
		}
	return 0;
}

/* Add the time of a set's parts: its samples share the time that it ran. @sign: -1 for the band */
static void add_set(struct folder *folder, struct blame_set set, double sign)
{
	const struct blame *blame = folder->blame;
	double weights = 0, running = 0, time = 0;

	for (size_t n = 0; n < set.count; n++) {
		const struct blame_vector *vector = set.vectors[n];

		running += (double)vector->running;
		time += (double)vector->time;
		for (size_t at = 0; at < vector->count; at++)
			if (blame_is_sampled(&blame->parts[vector->shares[at].part]))
				weights += (double)vector->shares[at].number;
	}
	folder->more += set.count ? sign * running / (double)set.count : 0;
	folder->extra += set.count ? sign * time / (double)set.count : 0;
	for (size_t n = 0; n < set.count && weights > 0; n++)
		for (size_t at = 0; at < set.vectors[n]->count; at++) {
			const struct blame_share *share = &set.vectors[n]->shares[at];
			struct fold_part *part;

			if (!blame_is_sampled(&blame->parts[share->part]))
				continue;
			part = find_part(folder, share->part);
			part->more += sign * running / (double)set.count * (double)share->number / weights;
			part->slow = view_add(part->slow, sign > 0 ? share->number : 0);
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
static int add_stack(struct folder *folder, const struct fold_part *part)
{
	const char *at = stack_of(folder, part);
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

/* Count a span for each function of the stacks of its samples. @span: from 1 */
static int count_span(struct folder *folder, const struct blame_vector *vector, size_t span)
{
	for (size_t n = 0; n < vector->count; n++) {
		const uint32_t number = vector->shares[n].part;
		const char *at;
		uint32_t name;

		if (!blame_is_sampled(&folder->blame->parts[number]))
			continue;
		at = stack_of(folder, find_part(folder, number));
		while ((name = next_function(folder->blame, &at))) {
			struct fold_function *function = find_function(folder, name);

			if (!function)
				return -ENOMEM;
			function->spans += function->last != span;
			function->last = span;
		}
	}
	return 0;
}

static int nearest_first(const void *a, const void *b)
{
	const struct fold_function *one = a, *other = b;
	const double left = one->distance / one->weight, right = other->distance / other->weight;

	return left < right ? -1 : left > right ? 1 : number_order(one->name, other->name);
}

/* Whether so much of the difference is below a function, and in so many of the slowest spans that it is no accident. */
static bool is_common(const struct folder *folder, const struct fold_function *function)
{
	return function->weight > 0 && function->more * 100 >= FOLD_SHARE * folder->more &&
	       function->spans >= FOLD_SPANS_MIN && function->spans * 2 >= folder->slow.count;
}

/* Find the common function, and the parts that it is in. */
static int find_common(struct folder *folder)
{
	struct fold_function *best = NULL;

	if (folder->more <= 0 || folder->more * 100 < FOLD_EXTRA_MIN * folder->extra)
		return 0;
	for (size_t n = 0; n < folder->part_count; n++)
		if (add_stack(folder, &folder->parts[n]) != 0)
			return -ENOMEM;
	for (size_t n = 0; n < folder->slow.count; n++)
		if (count_span(folder, folder->slow.vectors[n], n + 1) != 0)
			return -ENOMEM;
	for (size_t n = 0; n < folder->function_count; n++)
		if (is_common(folder, &folder->functions[n]) &&
		    (!best || nearest_first(&folder->functions[n], best) < 0))
			best = &folder->functions[n];
	if (!best)
		return 0;
	folder->fold->function = best->name;
	for (size_t n = 0; n < folder->part_count; n++)
		folder->parts[n].below = stack_has(folder, &folder->parts[n], best->name);
	return 0;
}

/* ---- Parts become others */

/* Whether the common function calls others in which samples are. */
static bool has_callees(const struct folder *folder)
{
	for (size_t n = 0; n < folder->part_count; n++)
		if (folder->parts[n].below &&
		    folder->blame->parts[folder->parts[n].number].what != folder->fold->function)
			return true;
	return false;
}

static int choose_parts(struct folder *folder)
{
	struct blame *blame = folder->blame;
	const bool callees = has_callees(folder);

	for (size_t n = 0; n < folder->part_count; n++) {
		const struct blame_part part = blame->parts[folder->parts[n].number];
		struct blame_part into = { .kind = part.kind, .what = part.what };

		if (!part.callers)
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

/* The functions behind that of the folded part, in the stack of a part. Return: a string. */
static uint32_t chain_names(struct folder *folder, const struct fold_part *part)
{
	const struct blame_part *into = &folder->blame->parts[part->into];
	const char *at = stack_of(folder, part);
	char text[BLAME_TEXT];
	size_t used = 0;

	if (part->below) {
		uint32_t name = 0;

		while (name != into->what && (name = next_function(folder->blame, &at)))
			;
	} else {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	for (unsigned n = 1; n < CHAIN && *at; n++) {
		const size_t bytes = strcspn(at, "\n");

		if (used + bytes + 2 > sizeof(text))
			break;
		if (used)
			text[used++] = '\n';
		memcpy(text + used, at, bytes);
		used += bytes;
		at += bytes + (at[bytes] == '\n');
	}
	text[used] = 0;
	return view_string(folder->blame->strings, text);
}

static int add_chain(struct folder *folder, const struct fold_part *part)
{
	struct blame_fold *fold = folder->fold;
	const uint32_t names = chain_names(folder, part);
	const uint64_t hash = hash_pair(part->into, names);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&folder->chains, hash, &at));) {
		struct fold_chain *known = &fold->chains[number - 1];

		if (known->part != part->into || known->names != names)
			continue;
		known->weight = view_add(known->weight, part->slow);
		return 0;
	}
	if (!array_reserve(fold->chains, fold->chain_room, fold->chain_count + 1) ||
	    !hash_table_reserve(&folder->chains))
		return -ENOMEM;
	fold->chains[fold->chain_count++] = (struct fold_chain){ part->into, names, part->slow };
	hash_table_add(&folder->chains, hash, (uint32_t)fold->chain_count);
	return 0;
}

static int heaviest_chain(const void *a, const void *b)
{
	const struct fold_chain *one = a, *other = b;

	return number_order(one->part, other->part)
		       ?: number_order(other->weight, one->weight) ?: number_order(one->names, other->names);
}

/* The callers of a folded part are those of most of its weight. The chains are put in order of the parts, the heaviest of each one first. */
static int choose_callers(struct folder *folder)
{
	struct blame_fold *fold = folder->fold;

	for (size_t n = 0; n < folder->part_count; n++)
		if (folder->parts[n].into && add_chain(folder, &folder->parts[n]) != 0)
			return -ENOMEM;
	if (fold->chain_count)
		qsort(fold->chains, fold->chain_count, sizeof(*fold->chains), heaviest_chain);
	return 0;
}

static int fold_vector(const struct folder *folder, struct blame_vector *vector)
{
	struct blame_vector folded = { .time = vector->time, .running = vector->running };
	int error = 0;

	for (size_t n = 0; n < vector->count && !error; n++) {
		struct blame_share share = vector->shares[n];

		if (blame_is_sampled(&folder->blame->parts[share.part]))
			share.part = find_part(folder, share.part)->into ?: share.part;
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

/* Of times of running: page faults have a row of their own. */
static int find_callees(struct folder *folder)
{
	struct blame_fold *fold = folder->fold;
	struct blame_callee *callees = calloc(folder->part_count + 1, sizeof(*callees));
	uint32_t *numbers = calloc((size_t)folder->blame->strings->count + 1, sizeof(*numbers));
	size_t count = 0;

	for (size_t n = 0; callees && numbers && n < folder->part_count; n++) {
		const struct fold_part *part = &folder->parts[n];
		const struct blame_part *of = &folder->blame->parts[part->number];

		if (!part->below || !part->slow || of->kind != BLAME_RUNNING)
			continue;
		if (!numbers[of->what]) {
			callees[count].name = of->what;
			numbers[of->what] = (uint32_t)++count;
		}
		callees[numbers[of->what] - 1].weight =
			view_add(callees[numbers[of->what] - 1].weight, part->slow);
		fold->weight = view_add(fold->weight, part->slow);
	}
	if (callees && count)
		qsort(callees, count, sizeof(*callees), heaviest_callee);
	for (size_t n = 0; callees && n < count && n < FOLD_CALLEES; n++)
		fold->callees[n] = callees[n];
	free(callees);
	free(numbers);
	return callees && numbers ? 0 : -ENOMEM;
}

/* ---- The whole */

static int fold_all(struct folder *folder)
{
	int error = number_parts(folder, folder->slow) ?: number_parts(folder, folder->band);

	if (error)
		return error;
	add_set(folder, folder->slow, 1);
	add_set(folder, folder->band, -1);
	if (folder->band.count)
		error = find_common(folder);
	if (!error && folder->fold->function)
		error = find_callees(folder);
	if (!error)
		error = choose_parts(folder);
	if (!error)
		error = choose_callers(folder);
	if (!error)
		error = fold_set(folder, folder->slow) ?: fold_set(folder, folder->band);
	return !error && folder->blame->strings->failed ? -ENOMEM : error;
}

int blame_fold_make(struct blame_fold *fold, struct blame *blame, struct blame_set slow,
		    struct blame_set band)
{
	struct folder folder = { .fold = fold, .blame = blame, .slow = slow, .band = band };
	int error;

	*fold = (struct blame_fold){ .blame = blame };
	error = fold_all(&folder);
	for (size_t n = 0; n < folder.part_count; n++)
		blame->fold_numbers[folder.parts[n].number] = 0;
	free(folder.parts);
	free(folder.functions);
	hash_table_free(&folder.numbers);
	hash_table_free(&folder.chains);
	return error;
}

void blame_fold_free(struct blame_fold *fold)
{
	free(fold->chains);
	fold->chains = NULL;
	fold->chain_count = fold->chain_room = 0;
}

/* ---- Texts */

/* The callers of a part, a line each. Return: NULL: the part is none of samples with a stack. */
static const char *chain_of(const struct blame_fold *fold, uint32_t part)
{
	size_t low = 0, high = fold->chain_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (fold->chains[middle].part < part)
			low = middle + 1;
		else
			high = middle;
	}
	return low < fold->chain_count && fold->chains[low].part == part
		       ? fold->blame->strings->texts[fold->chains[low].names]
		       : NULL;
}

const char *blame_fold_text(const struct blame_fold *fold, uint32_t part, char text[BLAME_TEXT])
{
	const char *at = chain_of(fold, part);

	blame_text(fold->blame, part, text);
	while (at && *at) {
		const size_t bytes = strcspn(at, "\n"), used = strlen(text);

		if (used + bytes + 4 > BLAME_TEXT)
			break;
		memcpy(text + used, " < ", 3);
		memcpy(text + used + 3, at, bytes);
		text[used + 3 + bytes] = 0;
		at += bytes + (at[bytes] == '\n');
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
		while (*at) {
			const size_t bytes = strcspn(at, "\n");

			json_name(json, at, bytes);
			at += bytes + (at[bytes] == '\n');
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
	if (!fold->blame->parts[part].below || fold->blame->parts[part].kind != BLAME_RUNNING)
		return;
	for (unsigned n = 0; n < FOLD_CALLEES && fold->callees[n].name; n++)
		view_buffer_print(out, "%s%s %.0f%%", n ? ", " : "",
				  fold->blame->strings->texts[fold->callees[n].name],
				  100.0 * (double)fold->callees[n].weight / (double)fold->weight);
}

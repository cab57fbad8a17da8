/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of a guest: the slow paths; see guest_stack.h. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/containers/hash_table.h"
#include "base/number.h"
#include "base/print.h"
#include "source/guest/guest_clock.h"
#include "source/guest/guest_stack.h"

enum {
	RETRY_TICKS = 1 << 22, /* about a millisecond */
	/* To find a stack's task. The kernel sets it after about 50 calls on its stack: most fill the processor's stack of return
	 * addresses. */
	TRIES = 256,
	OWNERS = 1024, /* address spaces whose processes are known */
	NEAR = 256, /* bytes: from where a stack was left to the first call or return when it is continued */
};

_Alignas(WIRE_CALL_SEGMENT) struct wire_call_frame guest_no_frames[WIRE_CALL_FRAMES + 1] = {
	[WIRE_CALL_FRAMES] = { .sp = UINT64_MAX },
};

struct guest_stack guest_stack_nowhere = { .top = GUEST_NO_FRAMES };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lane_lock = PTHREAD_MUTEX_INITIALIZER; /* of all lanes; after `lock` */
static struct guest_stack **stacks;
static size_t room;
static uint32_t count, tids;		/* tids: how many were given */
static uint32_t of_level[GUEST_LEVELS]; /* of `count` */
static struct owner {
	uint64_t space;
	uint32_t process, image;
} owners[OWNERS]; /* of address spaces */
static uint64_t uses, ids;
static struct hash_table table; /* their numbers, from 1 */
static uint32_t epoch;		/* of the guest's memory */
static uint64_t retry;		/* clock: after there was no memory for a segment */

static struct wire_call_segment *segment_of(const struct wire_call_frame *frame)
{
	return (struct wire_call_segment *)((uintptr_t)frame & ~(uintptr_t)(WIRE_CALL_SEGMENT - 1));
}

/* A segment by its number; NULL: none. A damaged session cannot lead out of the segments. */
static struct wire_call_segment *segment_at(uint64_t number)
{
	return number - 1 < guest_session.geometry.call_segments
		       ? session_call_segment_at(&guest_session, (uint32_t)number)
		       : NULL;
}

static uint32_t number_of(const struct wire_call_segment *segment)
{
	return (uint32_t)(((const char *)segment - guest_session.calls.segments) / WIRE_CALL_SEGMENT) + 1;
}

/* Another segment for a stack. Return: NULL: there is no memory. */
static struct wire_call_segment *add_segment(struct guest_stack *stack, const struct wire_call_segment *full)
{
	const uint64_t now = ring_clock();
	struct wire_call_segment *segment;

	if (now < __atomic_load_n(&retry, __ATOMIC_RELAXED))
		return NULL;
	segment = segment_at(
		session_call_segment(&guest_session, session_self(), stack->tid, full ? full->stack : 0,
				     full ? full->depth + WIRE_CALL_FRAMES : 0, full ? number_of(full) : 0));
	if (!segment)
		__atomic_store_n(&retry, now + RETRY_TICKS, __ATOMIC_RELAXED);
	if (!full)
		stack->first = segment;
	return segment;
}

struct wire_call_frame *guest_stack_more(struct guest_stack *stack, const struct wire_call_frame *top)
{
	static pthread_mutex_t more_lock = PTHREAD_MUTEX_INITIALIZER;
	struct wire_call_segment *full = top == GUEST_NO_FRAMES ? NULL : segment_of(top - 1), *segment;

	pthread_mutex_lock(&more_lock);
	segment = full ? segment_at(full->next) : stack->first;
	if (!segment && stack->region)
		segment = add_segment(stack, full);
	pthread_mutex_unlock(&more_lock);
	if (!segment) {
		session_call_lose(&guest_session, WIRE_CALL_LOST_STACK, 1);
		return NULL;
	}
	return (struct wire_call_frame *)segment + 1;
}

struct wire_call_frame *guest_stack_before(const struct wire_call_frame *frame)
{
	struct wire_call_segment *before = segment_at(segment_of(frame)->previous);

	return before ? (struct wire_call_frame *)before + WIRE_CALL_FRAMES + 1 : GUEST_NO_FRAMES;
}

uint32_t guest_stack_count(uint32_t *kept)
{
	*kept = count;
	return tids;
}

/* Under the lock. After millions of stacks, numbers are used again, as the kernel's are: those behind them have other meanings. */
static uint32_t next_tid(void)
{
	return WIRE_GUEST_TID + tids++ % (WIRE_GUEST_VCPU - WIRE_GUEST_TID);
}

static bool is_at(const struct guest_stack *stack, const struct guest_place *place)
{
	return stack->region == place->region && stack->place.space == place->space &&
	       stack->place.thread == place->thread && stack->place.task == place->task &&
	       stack->place.level == place->level && stack->place.is_part == place->is_part;
}

/*
 * The image of a program's functions. A guest gives the page tables of an ended process to the next one, so a process that is not the last one in
 * its address space has another image, if its program is another one. Programs with one name share an image: so short processes do not fill the
 * table of functions, and a process that changes its name keeps its image. Under the lock.
 */
static uint32_t find_program(uint64_t space, const struct guest_task *task)
{
	struct owner *owner = &owners[hash_pair(space, 0) % OWNERS];
	char path[128];

	if (owner->image && owner->space == space && (!task->address || owner->process == task->process))
		return owner->image;
	print_text(path, sizeof(path), WIRE_GUEST_USER "%" PRIx64 "%s%s]", space, task->address ? " " : "",
		   task->address ? task->program : "");
	owner->space = space;
	owner->process = task->process;
	owner->image = session_call_image(&guest_session, &(struct session_call_image){ .path = path },
					  guest_session_thread());
	return owner->image;
}

/* The image of the functions that run on a stack. A kernel is the same in all address spaces. Under the lock. */
static uint32_t find_image(const struct guest_place *place, const struct guest_task *task)
{
	if (place->level == GUEST_USER)
		return find_program(place->space, task);
	return session_call_image(&guest_session, &(struct session_call_image){ .path = WIRE_GUEST_KERNEL },
				  guest_session_thread());
}

/* The thread's name in the trace: the privilege level, and the task or where the stack is. */
void guest_stack_announce(struct guest_stack *stack)
{
	const char *level = stack->place.level == GUEST_USER ? "user" : "kernel";
	const uint64_t region = stack->region;
	char name[64];

	if (stack->announced || guest_options.by_vcpu)
		return;
	if (stack->task.address) {
		stack->announced = guest_task_announce(&stack->task, level, stack->tid, stack->since);
		return;
	}
	print_text(name, sizeof(name), "%s %" PRIx64, level,
		   stack->place.is_part ? stack->begin
		   : region >> 62 == 1	? region << GUEST_PROGRAM_BITS & INT64_MAX
					: region << guest_options.stack_bits);
	stack->announced = session_announce_thread(&guest_session, session_self(), guest_session_thread(),
						   stack->tid, name, stack->since) == RING_DONE;
}

void guest_stack_announce_all(void)
{
	pthread_mutex_lock(&lock);
	for (uint32_t n = 0; n < count; n++)
		guest_stack_announce(stacks[n]);
	pthread_mutex_unlock(&lock);
}

void guest_stack_settle(struct guest_stack *stack, const struct guest_task *task)
{
	const bool other = stack->task.address != task->address || stack->task.pid != task->pid;

	if (memcmp(&stack->task, task, sizeof(*task)) == 0)
		return;
	if (other && stack->task.address && stack->place.level == GUEST_KERNEL)
		guest_stack_renew(stack);
	if (stack->announced)
		stack->since = 0;
	stack->announced = false;
	stack->task = *task;
}

bool guest_stack_has_none(struct guest_stack *stack)
{
	return stack->tries == TRIES || ++stack->tries == TRIES;
}

void guest_stack_doubt(void)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n(&epoch, epoch + 1, __ATOMIC_RELAXED);
	memset(owners, 0, sizeof(owners));
	pthread_mutex_unlock(&lock);
}

bool guest_stack_is_doubtful(const struct guest_stack *stack)
{
	return stack->epoch != __atomic_load_n(&epoch, __ATOMIC_RELAXED);
}

/* The outermost open call that is not there; NULL: all are. */
static const struct wire_call_frame *find_lost(const struct guest_stack *stack,
					       bool (*is_there)(const struct wire_call_frame *, void *),
					       void *data)
{
	const struct wire_call_segment *segment = guest_stack_is_empty(stack) ? NULL : stack->first;

	for (; segment; segment = segment_at(segment->next)) {
		const struct wire_call_frame *frames = (const struct wire_call_frame *)segment;

		for (unsigned n = 1; n <= WIRE_CALL_FRAMES; n++) {
			if (!is_there(&frames[n], data))
				return &frames[n];
			if (&frames[n] == guest_stack_top(stack))
				return NULL;
		}
	}
	return NULL;
}

unsigned guest_stack_check(struct guest_stack *stack,
			   bool (*is_there)(const struct wire_call_frame *frame, void *data), void *data)
{
	const struct wire_call_frame *lost = find_lost(stack, is_there, data);
	unsigned ended = 0;

	stack->epoch = __atomic_load_n(&epoch, __ATOMIC_RELAXED);
	for (bool more = lost != NULL; more && !guest_stack_is_empty(stack); ended++) {
		more = guest_stack_top(stack) != lost;
		guest_stack_end(stack);
	}
	if (ended)
		stack->target = 0;
	return ended;
}

/* A stack is another thread of the trace from now on. No call of it is open there. */
static void set_tid(struct guest_stack *stack, uint32_t tid)
{
	struct wire_call_segment *segment;

	stack->tid = tid;
	for (segment = stack->first; segment; segment = segment_at(segment->next))
		__atomic_store_n(&segment->tid, tid, __ATOMIC_RELEASE);
}

/* Under lane_lock. The open calls of a stack end in the trace, but stay on the stack. */
static void hide(struct guest_stack *stack)
{
	struct wire_call_frame *top = stack->top;

	if (!stack->lane)
		return;
	while (!guest_stack_is_empty(stack)) {
		struct wire_call_frame *frame = guest_stack_top(stack);
		const uint32_t flags = frame->flags;

		guest_stack_end(stack);
		frame->flags = flags;
	}
	stack->top = top;
	stack->lane->stack = NULL;
	stack->lane = NULL;
}

/* The open calls of a stack begin again. */
static void resume(const struct guest_stack *stack)
{
	struct wire_call_segment *segment = guest_stack_is_empty(stack) ? NULL : stack->first;

	for (; segment && guest_is_recording(); segment = segment_at(segment->next)) {
		struct wire_call_frame *frames = (struct wire_call_frame *)segment;

		for (unsigned n = 1; n <= WIRE_CALL_FRAMES; n++) {
			if (frames[n].function)
				__atomic_store_n(&frames[n].start, ring_clock(), __ATOMIC_RELEASE);
			if (&frames[n] == guest_stack_top(stack))
				return;
		}
	}
}

static void announce_lane(struct guest_lane *lane, enum guest_level level)
{
	char name[64];

	print_text(name, sizeof(name), "vcpu %u %s", lane->vcpu, level == GUEST_USER ? "user" : "kernel");
	lane->announced = session_announce_thread(&guest_session, session_self(), guest_session_thread(),
						  lane->tid, name, 0) == RING_DONE;
}

void guest_stack_show(struct guest_stack *stack, struct guest_lane *lane)
{
	pthread_mutex_lock(&lane_lock);
	if (lane->stack != stack) {
		hide(stack); /* it ran on another vCPU */
		if (lane->stack)
			hide(lane->stack);
		lane->stack = stack;
		stack->lane = lane;
		set_tid(stack, lane->tid);
		resume(stack);
	}
	if (!lane->announced)
		announce_lane(lane, stack->place.level);
	pthread_mutex_unlock(&lane_lock);
}

/* A stack ends, and so do its calls. */
static void end_all(struct guest_stack *stack)
{
	pthread_mutex_lock(&lane_lock);
	hide(stack);
	pthread_mutex_unlock(&lane_lock);
	while (!guest_stack_is_empty(stack))
		guest_stack_end(stack);
}

/*
 * A task has ended, or executes another program: the calls that its program left open end. Under the lock.
 * @kept: where its stack is now; NULL: it has none any more
 */
static void end_program(uint64_t address, uint32_t pid, const struct guest_place *kept)
{
	for (uint32_t n = 0; n < count && pid; n++) {
		struct guest_stack *stack = stacks[n];

		if (stack->place.level == GUEST_USER && stack->task.pid == pid &&
		    (kept ? stack->place.space != kept->space : stack->task.address == address) &&
		    !__atomic_load_n(&stack->runs, __ATOMIC_ACQUIRE))
			end_all(stack);
	}
}

void guest_stack_renew(struct guest_stack *stack)
{
	uint32_t tid;

	end_all(stack);
	pthread_mutex_lock(&lock);
	end_program(stack->task.address, stack->task.pid, NULL);
	tid = next_tid();
	pthread_mutex_unlock(&lock);
	set_tid(stack, tid);
	stack->task = (struct guest_task){ 0 };
	stack->since = ring_clock();
	stack->tries = 0;
	stack->target = 0;
	stack->announced = false;
}

static uint64_t hash_of(const struct guest_place *place)
{
	return hash_pair(hash_pair(place->region, place->space), hash_pair(place->thread, place->task));
}

/* Under the lock. Return: NULL: no memory. */
static struct guest_stack *add(const struct guest_place *place, uint32_t image)
{
	struct guest_stack *stack;

	if (!array_reserve(stacks, room, (size_t)count + 1) || !hash_table_reserve(&table))
		return NULL;
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return NULL;
	*stack = (struct guest_stack){ .top = GUEST_NO_FRAMES,
				       .region = place->region,
				       .place = *place,
				       .id = ++ids,
				       .tid = next_tid(),
				       .image = image,
				       .since = ring_clock(),
				       .epoch = epoch,
				       .number = count + 1 };
	stacks[count++] = stack;
	of_level[place->level]++;
	hash_table_add(&table, hash_of(place), count);
	return stack;
}

static int compare_uses(const void *one, const void *other)
{
	const struct guest_stack *const *a = one, *const *b = other;

	return number_order((*a)->used, (*b)->used);
}

static void discard(struct guest_stack *stack)
{
	end_all(stack);
	guest_stack_announce(stack);
	if (stack->first)
		session_call_segment_free(&guest_session, number_of(stack->first), guest_session_thread());
	free(stack);
}

/* Discard a quarter of the stacks of a level, those that were used least recently. Under the lock. */
static void discard_some(enum guest_level level)
{
	uint32_t excess = of_level[level] / 4 + 1, kept = 0;

	qsort(stacks, count, sizeof(*stacks), compare_uses);
	for (uint32_t n = 0; n < count; n++)
		if (excess && stacks[n]->place.level == level &&
		    !__atomic_load_n(&stacks[n]->runs, __ATOMIC_ACQUIRE)) {
			discard(stacks[n]);
			of_level[level]--;
			excess--;
		} else {
			stacks[kept++] = stacks[n];
		}
	count = kept;
	memset(table.slots, 0, table.room * sizeof(*table.slots));
	table.count = 0;
	for (uint32_t n = 0; n < count; n++) {
		stacks[n]->number = n + 1;
		hash_table_add(&table, hash_of(&stacks[n]->place), n + 1);
	}
}

/* Under the lock. Return: NULL: there is none. */
static struct guest_stack *known(const struct guest_place *place)
{
	const uint64_t hash = hash_of(place);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&table, hash, &at));)
		if (is_at(stacks[number - 1], place))
			return stacks[number - 1];
	return NULL;
}

/*
 * A program sets its first thread's pointer after some calls: from then on its stack is at another place. Under the lock.
 * Return: NULL: there is no such stack, or no memory.
 */
static struct guest_stack *moved(const struct guest_place *place)
{
	struct guest_place before = *place;
	struct guest_stack *stack;

	before.thread = 0;
	stack = place->thread ? known(&before) : NULL;
	if (!stack || !hash_table_reserve(&table))
		return NULL;
	stack->place = *place;
	hash_table_add(&table, hash_of(place), stack->number);
	return stack;
}

/* Under the lock. Return: NULL: no memory. */
static struct guest_stack *add_bounded(const struct guest_place *place, uint32_t image)
{
	if (of_level[place->level] >= guest_options.stacks)
		discard_some(place->level);
	return add(place, image);
}

static struct guest_place place_of_parts(const struct guest_place *place)
{
	struct guest_place parts = *place;

	parts.thread = parts.task = 0;
	parts.is_part = true;
	return parts;
}

/* Under the lock. The part with an id; the stack itself if there is none. */
static struct guest_stack *part_of(struct guest_stack *whole)
{
	const struct guest_place place = place_of_parts(&whole->place);
	const uint64_t hash = hash_of(&place);
	uint32_t number;

	for (size_t at = 0; whole->part && (number = hash_table_next(&table, hash, &at));)
		if (stacks[number - 1]->id == whole->part)
			return stacks[number - 1];
	return whole;
}

static bool is_near(uint64_t one, uint64_t other)
{
	return one - other + NEAR <= 2 * NEAR;
}

bool guest_stack_keeps(const struct guest_stack *stack, uint64_t from, uint64_t to)
{
	return is_near(from, to) ||
	       (from <= to && !guest_stack_is_empty(stack) && to <= guest_stack_top(stack)->sp);
}

/* Whether a stack pointer is that of one of its open calls, or where it was left. */
static bool has(const struct guest_stack *stack, uint64_t sp)
{
	const struct wire_call_frame *top = guest_stack_top(stack);

	if (stack->left && is_near(sp, stack->left))
		return true;
	return !guest_stack_is_empty(stack) && top->sp <= sp && stack->first &&
	       sp <= ((const struct wire_call_frame *)stack->first)[1].sp;
}

/*
 * Under the lock. The part of a region to which a jump of the stack pointer leads: one that has it already; or that on which the thread was, if the
 * function that runs there has given back a part of its frame, or aligned it; or a new one.
 */
static struct guest_stack *jumped_to(struct guest_stack *whole, uint64_t sp, const struct guest_jump *jump)
{
	const struct guest_place place = place_of_parts(&whole->place);
	const uint64_t hash = hash_of(&place);
	struct guest_stack *before = part_of(whole), *part;
	uint32_t number;

	if (has(before, sp))
		return before;
	for (size_t at = 0; (number = hash_table_next(&table, hash, &at));)
		if (is_at(stacks[number - 1], &place) && has(stacks[number - 1], sp) &&
		    stacks[number - 1]->image == whole->image)
			return stacks[number - 1];
	if (has(whole, sp))
		return whole;
	if (guest_region(jump->from) == whole->region && guest_stack_keeps(before, jump->from, sp))
		return before;
	part = add_bounded(&place, whole->image);
	if (part)
		part->begin = sp;
	return part;
}

/* Under the lock. Return: NULL: no memory. */
static struct guest_stack *find_whole(const struct guest_place *place, const struct guest_task *task)
{
	struct guest_stack *stack = known(place) ?: moved(place);

	if (stack && stack->epoch != epoch)
		stack->image = find_image(place, task);
	if (stack)
		return stack;
	stack = add_bounded(place, find_image(place, task));
	if (place->level == GUEST_USER)
		end_program(0, place->task, place);
	return stack;
}

struct guest_stack *guest_stack_find(const struct guest_place *place, const struct guest_task *task,
				     uint64_t sp, const struct guest_jump *jump)
{
	struct guest_stack *stack, *whole;

	pthread_mutex_lock(&lock);
	stack = whole = find_whole(place, task);
	if (whole && guest_has_parts(sp)) {
		__atomic_fetch_add(&whole->runs, 1, __ATOMIC_RELAXED); /* it is not discarded meanwhile */
		stack = jump ? jumped_to(whole, jump->to ?: sp, jump) : part_of(whole);
		whole->part = stack && stack != whole ? stack->id : 0;
		__atomic_fetch_sub(&whole->runs, 1, __ATOMIC_RELEASE);
	}
	if (stack) {
		stack->used = ++uses;
		__atomic_fetch_add(&stack->runs, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	return stack;
}

void guest_stack_leave(struct guest_stack *stack)
{
	if (stack->region)
		__atomic_fetch_sub(&stack->runs, 1, __ATOMIC_RELEASE);
}

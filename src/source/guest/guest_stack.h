/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a guest and their open calls.
 *
 * A call pushes its return address, and its return pops it from the same place. So the place identifies the call: a frame is
 * open while the stack pointer is not above it. Nothing else of the guest is needed: no frame pointers, no symbols, and no
 * knowledge of its system.
 *
 * A thread of the guest has a stack of its own, and one more in its kernel. Stacks differ by where the stack pointer
 * is, and stacks of processes also by the address space and the thread pointer. So a call that is interrupted, or whose thread
 * sleeps, stays open on its stack while other calls go on.
 *
 * In the session each stack is a thread, whose id is beyond those that the host's kernel gives. If the guest's tasks are known
 * (guest_task.h), the kernel's stack of a task that ended is another thread when the next task gets it. Frames of open calls lie in
 * the session's segments, as those of native calls do (wire/wire_call.h): they survive a SIGKILL of QEMU.
 *
 * Coroutines, and the threads of small systems, have stacks that lie side by side in one region. They are parts of it: a part begins
 * where an instruction loads the stack pointer with an address that no other one has (guest_stack_find()).
 *
 * A program that ends does so in its kernel, and leaves its stacks behind. If tasks are known, its open calls end when another task gets
 * its stack in the kernel, or when its task executes another program. A guest can also put its stack pointer anywhere. When there
 * are too many stacks of a level, those that were used least recently go: their open calls end, and their memory is used again.
 *
 * Two vCPUs never run one stack at a time. The guest's own synchronization orders them when a thread moves. So only the table
 * of stacks has a lock. Guests that lie do it nevertheless, and so do threads that share a region and a thread pointer: then calls are mixed,
 * but each function here reads the top once, and leaves one that is valid.
 */
#ifndef BURIN_SOURCE_GUEST_GUEST_STACK_H
#define BURIN_SOURCE_GUEST_GUEST_STACK_H

#include "source/guest/guest_session.h"
#include "source/guest/guest_task.h"

enum guest_level {
	GUEST_KERNEL, /* and what lies below it: hypervisors, firmware */
	GUEST_USER,
	GUEST_LEVELS
};

/* Where a stack lies. */
struct guest_place {
	uint64_t region; /* guest_region() of its addresses; 0: nowhere */
	uint64_t space;	 /* of a user stack: the address space */
	uint64_t thread; /* of a user stack: the thread pointer */
	uint32_t task;	 /* of a user stack: the id of its task; 0: unknown */
	enum guest_level level;
	bool is_part; /* of a region: any thread of the address space may run on it, so it has no thread and task here */
};

/* An instruction has loaded the stack pointer. */
struct guest_jump {
	uint64_t from, to;	  /* the stack pointer before and behind it; to: 0: unknown */
	struct guest_place place; /* on which the vCPU was; no region: it is not known */
	bool is_new;		  /* no call or return has followed so far */
};

/*
 * With threads=vcpu, a thread of the trace is a privilege level of a vCPU, its lane. Records have the thread of their stack: so a
 * stack gets that of the lane that shows it. Before a lane shows another stack, the open calls of the former end in the
 * trace. When that is shown again, they begin again. So calls of a lane nest, and their times are those on the vCPU.
 */
struct guest_lane {
	struct guest_stack *stack; /* NULL: none */
	uint32_t tid;		   /* in the trace */
	unsigned vcpu;
	bool announced;
};

struct guest_stack {
	struct wire_call_frame *top; /* the next free frame; GUEST_NO_FRAMES if no call is open */
	uint64_t region;
	uint64_t target; /* where the last call went; 0: it has returned */
	uint32_t tid;	 /* in the trace */
	uint32_t image;	 /* of its functions */
	/* The rest is for the slow paths. */
	struct guest_place place;
	uint64_t id;	/* of all that there ever were */
	uint64_t part;	/* of one that is no part: the id of the part on which the thread is; 0: it is here */
	uint64_t begin; /* of a part: the first stack pointer */
	uint64_t left;	/* the stack pointer when an instruction loaded another one; 0: none did */
	struct wire_call_segment *first; /* NULL: it has no segment yet */
	struct guest_task task;
	uint64_t since;		 /* clock: from when on it has its next name; 0: from now on */
	uint32_t number;	 /* in the table */
	unsigned tries;		 /* to find its task */
	unsigned runs;		 /* vCPUs that have it */
	struct guest_lane *lane; /* that shows it; NULL: none */
	uint64_t used;		 /* when it was found last: a number */
	uint32_t epoch;		 /* of the guest's memory, when its open calls were found to be there */
	bool announced;
};

/* Flags of frames. */
enum {
	GUEST_FRAME_JUMP = 1,  /* the call below it went to this call instruction */
	GUEST_FRAME_SHARE = 2, /* its function makes calls without a frame of its own */
	GUEST_FRAME_NEAR = 4,  /* it went over a few bytes: guest_is_near() */
	GUEST_FRAME_TAIL =
		8, /* times so many functions that have the same end, since each jumped to the next one; and up to */
	GUEST_FRAME_TAILS = 15 * GUEST_FRAME_TAIL,
};

/* A segment without a call: the frame below any stack pointer ends each search. */
extern struct wire_call_frame guest_no_frames[WIRE_CALL_FRAMES + 1];
#define GUEST_NO_FRAMES (guest_no_frames + WIRE_CALL_FRAMES + 1)

/* guest_stack_nowhere - a stack that is nowhere: a vCPU has it until its first call. */
extern struct guest_stack guest_stack_nowhere;

/*
 * guest_stack_find - find or add the stack at a place; the vCPU has it until guest_stack_leave().
 * @task: which runs there; @sp: the stack pointer; @jump: how it came there; NULL: by moves within the stack on which the thread was
 * Return: NULL: no memory.
 */
struct guest_stack *guest_stack_find(const struct guest_place *place, const struct guest_task *task,
				     uint64_t sp, const struct guest_jump *jump);
void guest_stack_leave(struct guest_stack *stack);

/* guest_stack_settle - a stack belongs to a task. Context: the vCPU that runs it. */
void guest_stack_settle(struct guest_stack *stack, const struct guest_task *task);

/* guest_stack_has_none - a task was not found. Return: whether that was tried often enough: the stack belongs to none. */
bool guest_stack_has_none(struct guest_stack *stack);

/*
 * guest_stack_doubt - the guest's memory may have become that of another time. Context: no vCPU runs.
 * guest_stack_is_doubtful - whether that was so since its open calls were checked.
 * guest_stack_check - end the open calls from the first one on that is not there. Context: the vCPU that runs the stack.
 * @is_there: whether a call is still open
 * Return: how many ended.
 */
void guest_stack_doubt(void);
bool guest_stack_is_doubtful(const struct guest_stack *stack);
unsigned guest_stack_check(struct guest_stack *stack,
			   bool (*is_there)(const struct wire_call_frame *frame, void *data), void *data);

/* guest_stack_renew - the task of a stack has ended, and another one got it: its open calls end, and so do those of its program. */
void guest_stack_renew(struct guest_stack *stack);

/* guest_stack_show - a vCPU comes to a stack: its lane shows that from now on. */
void guest_stack_show(struct guest_stack *stack, struct guest_lane *lane);

/* guest_stack_announce - record a stack's name if it has a new one. */
void guest_stack_announce(struct guest_stack *stack);

/* guest_stack_announce_all - the same for all. Context: the guest is being ended. */
void guest_stack_announce_all(void);

/* guest_stack_count - how many there were; *kept: how many there are. */
uint32_t guest_stack_count(uint32_t *kept);

/* guest_stack_more - the first frame of the segment behind the full one whose end is `top`; NULL: the call is lost, and counted. */
struct wire_call_frame *guest_stack_more(struct guest_stack *stack, const struct wire_call_frame *top);

/* guest_stack_before - what the top becomes when the first frame of a segment is freed. */
struct wire_call_frame *guest_stack_before(const struct wire_call_frame *frame);

/*
 * guest_region - the part of the address space that a stack has for itself. The kernel's stacks are 16 KiB large, or what
 * its types say, and aligned. Stacks of a process usually lie 8 MiB apart; those that share a region differ by their thread pointers, or are parts.
 * guest_region_bits - it has 2 to the power of that many bytes.
 */
static inline unsigned guest_region_bits(uint64_t sp)
{
	return sp >> 63 ? guest_options.stack_bits : GUEST_PROGRAM_BITS;
}

static inline uint64_t guest_region(uint64_t sp)
{
	return sp >> guest_region_bits(sp) | (sp >> 63 ? 0 : UINT64_C(1) << 62);
}

/*
 * guest_stack_keeps - whether a jump of the stack pointer stays in the frame of the innermost open call: that gives back a part of it, or
 * aligns it.
 */
bool guest_stack_keeps(const struct guest_stack *stack, uint64_t from, uint64_t to);

/* guest_has_parts - whether several stacks may lie in the region of a stack pointer. Regions of kernels of 64 bits have one. */
static inline bool guest_has_parts(uint64_t sp)
{
	return !(sp >> 63);
}

static inline bool guest_is_segment_end(const struct wire_call_frame *top)
{
	return ((uintptr_t)top & (WIRE_CALL_SEGMENT - 1)) == 0;
}

static inline uint32_t guest_depth(const struct wire_call_frame *frame)
{
	const struct wire_call_segment *segment =
		(const struct wire_call_segment *)((uintptr_t)frame & ~(uintptr_t)(WIRE_CALL_SEGMENT - 1));

	return segment->depth + (uint32_t)(frame - (const struct wire_call_frame *)segment) - 1;
}

/* guest_stack_top - the innermost open call; if there is none, a frame whose stack pointer is above all others. */
static inline struct wire_call_frame *guest_stack_top(const struct guest_stack *stack)
{
	return __atomic_load_n(&stack->top, __ATOMIC_RELAXED) - 1;
}

static inline bool guest_stack_is_empty(const struct guest_stack *stack)
{
	return __atomic_load_n(&stack->top, __ATOMIC_RELAXED) == GUEST_NO_FRAMES;
}

/* guest_stack_push - a call begins: a frame for it, without a function; NULL: it is lost. */
static inline struct wire_call_frame *guest_stack_push(struct guest_stack *stack)
{
	struct wire_call_frame *frame = __atomic_load_n(&stack->top, __ATOMIC_RELAXED);

	if (__builtin_expect(guest_is_segment_end(frame), 0))
		frame = guest_stack_more(stack, frame);
	if (frame)
		__atomic_store_n(&stack->top, frame + 1, __ATOMIC_RELAXED);
	return frame;
}

/* guest_stack_free - free the frame that is the top one. */
static inline void guest_stack_free(struct guest_stack *stack, struct wire_call_frame *frame)
{
	__atomic_store_n(&frame->start, 0, __ATOMIC_RELAXED);
	if (__builtin_expect(guest_is_segment_end(frame - 1), 0))
		frame = guest_stack_before(frame);
	__atomic_store_n(&stack->top, frame, __ATOMIC_RELAXED);
}

/* guest_stack_pop - free the top frame, if there is one. */
static inline void guest_stack_pop(struct guest_stack *stack)
{
	struct wire_call_frame *frame = guest_stack_top(stack);

	if (frame + 1 != GUEST_NO_FRAMES)
		guest_stack_free(stack, frame);
}

/* guest_stack_end - the top call, if there is one, ends: record it and free its frame. */
static inline void guest_stack_end(struct guest_stack *stack)
{
	struct wire_call_frame *frame = guest_stack_top(stack);
	const uint64_t start = __atomic_load_n(&frame->start, __ATOMIC_RELAXED);
	const uint32_t function = __atomic_load_n(&frame->function, __ATOMIC_RELAXED);

	if (start && function) { /* it is recorded, and is not suspended */
		frame->flags |= WIRE_CALL_ENDING;
		guest_put(stack->tid, function, start, guest_depth(frame));
	} else if (frame + 1 == GUEST_NO_FRAMES) {
		return;
	}
	guest_stack_free(stack, frame);
}

#endif

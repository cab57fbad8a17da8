/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Return addresses for all who read a stack: exceptions, the end of threads, backtraces.
 *
 * While calls are open, return addresses on the stack are replaced by ours (hook_entry.h). Before the unwinder of libgcc
 * reads a stack, the real ones are restored; when it continues a function, its personality routine has set the place
 * (_Unwind_SetIP), and the open calls that survive are replaced again. Those that were unwound end there.
 *
 * Most ways to the unwinder are functions of libgcc, which are replaced here. The C library calls it directly when a thread is
 * cancelled or exits. Then the unwinder asks for the table of one of our addresses (_Unwind_Find_FDE): all others are
 * restored, and the answer is a table with the one return address that it has already read past.
 *
 * fork. Parent and child share the memory with the open calls, but not their stacks. So the real addresses stand there
 * during the fork, and the child replaces only those whose open call it still finds, in its copy of the frames.
 */
#if defined(__x86_64__)

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include "base/nolibc.h"
#include "source/calls/stack/call_native.h"
#include "source/calls/patch/call_patch.h"
#include "source/calls/stack/call_segment.h"
#include "source/calls/patch/call_slots.h"
#include "source/calls/stack/call_values.h"
#include "source/calls/hooks/hook_entry.h"

#define HOOK __attribute__((visibility("default")))

enum {
	BACKTRACE_MAX =
		1024, /* addresses of backtrace(); its buffer is on the stack, as a crash handler needs */
};

struct dwarf_eh_bases {
	void *tbase, *dbase, *func;
};

const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);
int backtrace(void **addresses, int count);

/* ---- return addresses */

static bool is_ours(uint64_t address)
{
	return address == (uint64_t)(uintptr_t)call_entry_end || call_patch_is_stub(address) ||
	       call_slots_is_stub(address);
}

static uint64_t *slot_of(const struct wire_call_frame *frame)
{
	return (uint64_t *)(uintptr_t)call_values_slot(frame);
}

/*
 * Restore all return addresses of this stack. Return: the first that was restored; 0: none. Calls by a jump share a place:
 * the return address of the first is that of the second's caller.
 */
static uint64_t restore(void)
{
	const uint64_t *first = NULL;

	for (struct wire_call_frame *frame = call_stack_top(); frame; frame = call_stack_below(frame)) {
		if (!(frame->flags & CALL_FRAME_REPLACED) || !frame->start || !is_ours(*slot_of(frame)))
			continue;
		first = first ?: slot_of(frame);
		frame->flags |= CALL_FRAME_RESTORED;
		*slot_of(frame) = frame->match;
	}
	return first ? *first : 0;
}

/* Replace the restored ones again, and end the calls whose frames are below an address of the stack; 0: none. */
static void replace(uint64_t sp)
{
	struct wire_call_frame *frame;

	while ((frame = call_stack_top()) && frame->sp < sp && (frame->flags & CALL_FRAME_RESTORED))
		call_end_top(frame);
	for (; frame; frame = call_stack_below(frame)) {
		if (!(frame->flags & CALL_FRAME_RESTORED))
			continue;
		frame->flags &= ~(uint32_t)CALL_FRAME_RESTORED;
		if (frame->sp >= sp)
			*slot_of(frame) = (uint64_t)(uintptr_t)call_entry_end;
	}
}

/* ---- fork */

void call_returns_restore(void)
{
	restore();
}

void call_returns_replace(void)
{
	replace(0);
}

/* The parent may have gone on, and changed the frames that were copied for us; but not our stack. */
void call_returns_in_child(void)
{
	for (struct wire_call_frame *frame = call_stack_top(); frame; frame = call_stack_below(frame)) {
		if (!(frame->flags & CALL_FRAME_REPLACED))
			continue;
		if (frame->start && *slot_of(frame) == frame->match)
			*slot_of(frame) = (uint64_t)(uintptr_t)call_entry_end;
		frame->flags &= ~(uint32_t)CALL_FRAME_RESTORED;
	}
}

/* Whether one of our addresses stands there. The parent may have made this stack after the fork. */
static bool is_replaced(uint64_t *slot)
{
	uint64_t value = 0;
	const struct iovec to = { &value, sizeof(value) }, from = { slot, sizeof(*slot) };

	return syscall(SYS_process_vm_readv, nolibc_pid(), &to, 1, &from, 1, 0) == sizeof(value) &&
	       is_ours(value);
}

/*
 * The parent may have ended calls, whose frames keep the addresses, and begun others: a child that returns to a call whose frame was used again
 * is lost. Frames of the parent are read only.
 */
uint64_t call_returns_put_back(uint64_t slot)
{
	uint64_t most = (uint64_t)tracepoint_session.geometry.call_segments * WIRE_CALL_FRAMES, found = 0;
	struct wire_call_frame *frame =
		call_thread.top == CALL_NO_STACK ? NULL : call_stack_below(call_thread.top);
	const int saved = errno;

	for (; frame && most-- > 0; frame = call_stack_below(frame)) {
		if (!(frame->flags & CALL_FRAME_REPLACED))
			continue;
		if (!found && slot && call_values_slot(frame) == slot)
			found = frame->match;
		else if (is_replaced(slot_of(frame)))
			*slot_of(frame) = frame->match;
	}
	errno = saved;
	return found;
}

/* ---- libgcc */

/* The replaced function behind ours. Its library may be loaded late, and not be visible from here. */
static void *next(void **known, const char *name)
{
	void *found = __atomic_load_n(known, __ATOMIC_RELAXED), *library;

	if (found)
		return found;
	found = dlsym(RTLD_NEXT, name);
	if (!found) {
		library = dlopen("libgcc_s.so.1", RTLD_LAZY);
		found = library ? dlsym(library, name) : NULL;
	}
	if (!found)
		abort(); /* the program called it, so it is there */
	__atomic_store_n(known, found, __ATOMIC_RELAXED);
	return found;
}

#define NEXT(name)                                        \
	({                                                \
		static void *known;                       \
		(__typeof__(&(name)))next(&known, #name); \
	})

HOOK _Unwind_Reason_Code _Unwind_RaiseException(struct _Unwind_Exception *exception)
{
	_Unwind_Reason_Code code;

	restore();
	code = NEXT(_Unwind_RaiseException)(exception);
	replace(0);
	return code;
}

HOOK void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	restore();
	NEXT(_Unwind_Resume)(exception);
	abort();
}

HOOK _Unwind_Reason_Code _Unwind_Resume_or_Rethrow(struct _Unwind_Exception *exception)
{
	_Unwind_Reason_Code code;

	restore();
	code = NEXT(_Unwind_Resume_or_Rethrow)(exception);
	replace(0);
	return code;
}

HOOK _Unwind_Reason_Code _Unwind_ForcedUnwind(struct _Unwind_Exception *exception, _Unwind_Stop_Fn stop,
					      void *data)
{
	_Unwind_Reason_Code code;

	restore();
	code = NEXT(_Unwind_ForcedUnwind)(exception, stop, data);
	replace(0);
	return code;
}

/* The innermost function of a backtrace is ours; the caller must not see it. */
struct trace {
	_Unwind_Trace_Fn each;
	void *data;
	bool begun;
};

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data)
{
	struct trace *trace = data;

	if (trace->begun)
		return trace->each(context, trace->data);
	trace->begun = true;
	return _URC_NO_REASON;
}

HOOK _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn each, void *data)
{
	struct trace trace = { each, data, false };
	_Unwind_Reason_Code code;

	restore();
	code = NEXT(_Unwind_Backtrace)(visit, &trace);
	replace(0);
	return code;
}

HOOK int backtrace(void **addresses, int count)
{
	void *found[BACKTRACE_MAX + 1];
	int all;

	if (count <= 0)
		return 0;
	restore();
	all = NEXT(backtrace)(found, count < BACKTRACE_MAX ? count + 1 : BACKTRACE_MAX + 1) - 1;
	replace(0);
	if (all <= 0)
		return 0;
	memcpy(addresses, found + 1, (size_t)all * sizeof(*found));
	return all;
}

HOOK void _Unwind_SetIP(struct _Unwind_Context *context, _Unwind_Ptr address)
{
	const uint64_t sp = NEXT(_Unwind_GetCFA)(context);

	replace(sp);
	call_native_move(sp);
	NEXT(_Unwind_SetIP)(context, address);
}

/* ---- a table for one return address */

/* A common entry: the stack pointer after the return is rsp; registers are as they are. */
struct table {
	struct {
		uint32_t bytes, id;
		uint8_t version, augmentation, code_align, data_align, return_register;
		uint8_t cfa, cfa_register, cfa_offset;
	} __attribute__((packed)) common;
	struct {
		uint32_t bytes, common;
		uint64_t begin, size;
		uint8_t rule, rule_register, rule_bytes, constant;
		uint64_t address;
	} __attribute__((packed)) function;
	uint32_t end;
} __attribute__((packed));

enum {
	DWARF_RSP = 7,
	DWARF_RETURN = 16,
	DWARF_DEF_CFA = 0x0c,	     /* register, offset */
	DWARF_VAL_EXPRESSION = 0x16, /* register, expression */
	DWARF_CONST8 = 0x0e,	     /* operation: 8 bytes follow */
	DWARF_MINUS_8 = 0x78,	     /* as a signed LEB128 */
};

static __thread struct table table __attribute__((tls_model("initial-exec"), aligned(8)));

static void fill(uint64_t begin, uint64_t address)
{
	table = (struct table){
		.common = { sizeof(table.common) - 4, 0, 1, 0, 1, DWARF_MINUS_8, DWARF_RETURN, DWARF_DEF_CFA,
			    DWARF_RSP, 0 },
		.function = { sizeof(table.function) - 4,
			      (uint32_t)(offsetof(struct table, function.common) -
					 offsetof(struct table, common)),
			      begin, CALL_PATCH_STUB, DWARF_VAL_EXPRESSION, DWARF_RETURN, 9, DWARF_CONST8,
			      address },
	};
}

HOOK const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases)
{
	const uint64_t at = (uint64_t)(uintptr_t)address;
	uint64_t first = 0;

	/* The unwinder asks for the byte before a return address, which is in the call. */
	if (is_ours(at + 1))
		first = restore();
	if (!first)
		return NEXT(_Unwind_Find_FDE)(address, bases);
	fill(at, first);
	*bases = (struct dwarf_eh_bases){ .func = address };
	return &table.function;
}

#endif

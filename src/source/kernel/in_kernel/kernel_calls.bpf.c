/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs of all system calls: one at entries, one at exits, and one at execs that succeed. The differences between calls are
 * rows of a table, by the call's number (struct kernel_syscall). A row that is 0 is a call that is not recorded.
 *
 * The order of a record: arguments, then what few calls have (kernel_put_last()). Memory that cannot be read is an empty array or a NULL
 * text. At an entry, a text or a socket's address of that kind makes the call noted (struct kernel_late), too, so that the exit reads
 * all again: programs cannot wait for a page, but the kernel has brought it by then. An exit with an error has no memory: the kernel
 * may have written none.
 *
 * Calls without their texts are counted: in `unread` of ring 0 those for which the map had no room and those whose texts cannot be read at
 * the exit, either; kernel_source.c adds the notes that are left at the end.
 * */
#include "source/kernel/in_kernel/kernel_call_c.h"
#include "source/kernel/in_kernel/kernel_list_c.h"
#include "source/kernel/in_kernel/kernel_memory_c.h"
#include "source/kernel/in_kernel/kernel_message_c.h"

extern struct bpf_map calls, entries, late; /* rows of this program's side, and of the entries; notes */

/* The filters (kernel_filter.c). Return: enum kernel_verdict. */
extern int kernel_chosen(const void *context, uint32_t thread, uint64_t filter,
			 const struct kernel_input *input);
extern int kernel_entry_chosen(const void *context, uint32_t thread, uint64_t filter,
			       const struct kernel_input *input);

enum {
	KERNEL_COMPARED = 2, /* arguments, of a note */
	/* Of all pieces of memory, with their lengths. */
	KERNEL_PIECES_BYTES =
		2 + TRACEPOINT_SOCKET_MAX + (TRACEPOINT_PIECES - 1) * (2 + TRACEPOINT_PIECE_MAX),
	/* All fields of an entry, at most, with the time of one that is noted. */
	KERNEL_LONGEST_ENTERED = 8 + KERNEL_ARGUMENTS * TRACEPOINT_TEXT_MAX + KERNEL_PIECES_BYTES,
	/* The most that an exit has behind the result: a message, its address and its control messages. */
	KERNEL_LONGEST_RETURNED =
		2 + TRACEPOINT_SOCKET_MAX + 2 + KERNEL_MESSAGE_RECEIVED + 2 + TRACEPOINT_SOCKET_MAX,
};

static_assert(KERNEL_PIECES_BYTES <= KERNEL_LONGEST_RETURNED, "what an exit has");
static_assert(KERNEL_ARGUMENTS * 8 + 2 + TRACEPOINT_SOCKET_MAX + 2 + KERNEL_MESSAGE_SENT + 2 +
			      TRACEPOINT_SOCKET_MAX <=
		      KERNEL_ARGUMENTS * TRACEPOINT_TEXT_MAX,
	      "KERNEL_LONGEST_ENTERED");

/* The row of the current call. Return: NULL: it is not recorded. */
BPF_INLINE const struct kernel_syscall *kernel_find_call(const struct bpf_task *current,
							 const uint64_t *context, struct kernel_input *input,
							 bool exits)
{
	const uint32_t row = kernel_call_row(current, context, input, exits);

	return bpf_map_lookup_elem(&calls, &row);
}

/* ---- the fields */

/* Whether a call has this behind its fields; some chosen one has. */
#define KERNEL_IS(last, kind, kinds) ((kinds) & (1u << (kind)) && (last) == (kind))
#define KERNEL_KIND_LISTS	     (1u << KERNEL_HAS_LIST | 1u << KERNEL_HAS_LIST_THIRD)
#define KERNEL_KIND_SOCKETS	     ((1u << KERNEL_HAS_NUMBER) - 2)

BPF_INLINE void kernel_put_argument(const struct kernel_open *open, const struct kernel_syscall *call,
				    uint64_t value, unsigned n)
{
	if (BPF_NUMBER(has_texts) && call->texts >> n & 1) {
		kernel_put_text(open, value);
		return;
	}
	/* Of 32 bits, all 64 are stored; what follows overwrites the rest, at last the padding. */
	*(uint64_t *)kernel_next(open) = value;
	*kernel_used(open) += 8 - (call->shorts >> n & 1) * 4u;
}

/* A socket's address, and then its message, or what is sent to it. */
BPF_INLINE void kernel_put_socket(const struct kernel_open *open, const struct kernel_input *input,
				  unsigned kind, bool exits)
{
	struct kernel_socket socket = { 0 };

	if (!exits || input->result >= 0) /* what is noted is read again whatever the result */
		kernel_find_socket(input, kind, exits, &socket);
	if (!kernel_put_array(open, socket.address, kernel_socket_bytes(&socket)) && !exits)
		open->ring->fields.unread = 1;
	if (BPF_NUMBER(in_kernel)) /* an exec has none */
		return;
	if (kind == TRACEPOINT_SOCKET_FIFTH && !exits)
		kernel_put_array(open, input->arguments[1], input->arguments[2]);
	if (KERNEL_IS(kind, TRACEPOINT_SOCKET_MESSAGE,
		      exits ? BPF_NUMBER(kinds_of_exits) : BPF_NUMBER(kinds_of_entries)))
		kernel_put_message(open, input, exits);
}

/*
 * Put the part that few calls have behind the other fields. Of kinds that no chosen call has, the verifier removes the code; then it takes a
 * fraction of the time.
 */
BPF_FUNCTION void kernel_put_last(const struct kernel_open *open, const struct kernel_input *input,
				  const struct kernel_syscall *call, bool exits)
{
	const uint64_t kinds = exits ? BPF_NUMBER(kinds_of_exits) : BPF_NUMBER(kinds_of_entries);
	const unsigned last = call->last;

	if (KERNEL_IS(last, KERNEL_HAS_NUMBER, kinds))
		kernel_put32(open, input->number);
	else if (KERNEL_IS(last, KERNEL_HAS_MEMORY, kinds))
		kernel_put_memory(open, input, call, exits);
	else if (KERNEL_IS(last, KERNEL_HAS_VECTORS, kinds))
		kernel_put_vectors(open, input);
	else if (last >= KERNEL_HAS_LIST && !(kinds & KERNEL_KIND_LISTS))
		return;
	else if (last >= KERNEL_HAS_LIST && BPF_NUMBER(in_kernel))
		kernel_put_new_lists(open);
	else if (last >= KERNEL_HAS_LIST)
		kernel_put_lists(open, kernel_argument(input, last - KERNEL_HAS_LIST + 1),
				 kernel_argument(input, last - KERNEL_HAS_LIST + 2));
	else if (kinds & KERNEL_KIND_SOCKETS)
		kernel_put_socket(open, input, last, exits);
}

BPF_INLINE void kernel_put_arguments(const struct kernel_open *open, const struct kernel_input *input,
				     const struct kernel_syscall *call)
{
	open->ring->fields.unread = 0;
#pragma unroll
	for (unsigned n = 0; n < KERNEL_ARGUMENTS; n++) {
		if (BPF_NUMBER(most_arguments) <= n || call->count <= n)
			break;
		kernel_put_argument(open, call, input->arguments[n], n);
	}
	if (call->last)
		kernel_put_last(open, input, call, false);
}

/* ---- calls whose texts are read at the exit */

BPF_INLINE void kernel_count_unread(void)
{
	const uint32_t first = 0;
	struct kernel_ring *ring = bpf_map_lookup_elem(&rings, &first);

	if (ring)
		__sync_fetch_and_add(&ring->unread, 1);
}

BPF_FUNCTION void kernel_note_late(uint32_t thread, const struct kernel_input *input, uint64_t ns,
				   uint32_t accepted)
{
	struct kernel_late note = { .time = ns, .number = input->number, .accepted = accepted };

	for (unsigned n = 0; n < KERNEL_LATE_ARGUMENTS; n++)
		note.arguments[n] = input->arguments[n];
	if (bpf_map_update_elem(&late, &thread, &note, BPF_ANY) != 0)
		kernel_count_unread();
}

/* Write the arguments of a noted call. Its filter decides now, if it has not accepted the call. Return: whether all could be read. */
BPF_INLINE bool kernel_put_noted(const uint64_t *context, uint32_t thread, const struct kernel_input *input,
				 const struct kernel_late *note)
{
	const uint32_t row = note->number < KERNEL_CALLS ? note->number : KERNEL_CALL_UNNAMED;
	const struct kernel_syscall *call = bpf_map_lookup_elem(&entries, &row);
	struct kernel_open open;
	bool read;

	if (!call || !call->id)
		return true;
	if (BPF_NUMBER(filters_entries) && call->filter && !note->accepted &&
	    kernel_entry_chosen(context, thread, call->filter, input) != KERNEL_ACCEPTED)
		return true;
	if (!kernel_begin(&open, KERNEL_LONGEST_ENTERED))
		return true;
	*kernel_used(&open) = 0;
	kernel_put64(&open, open.ns - note->time);
	kernel_put_arguments(&open, input, call);
	read = !open.ring->fields.unread;
	kernel_end(&open, thread, call->late, *kernel_used(&open));
	return read;
}

/* The same at the exit. The note is removed behind that: only this thread's calls change it. */
BPF_FUNCTION int kernel_exit_late(const uint64_t *context, const struct kernel_input *input)
{
	const uint32_t thread = (uint32_t)bpf_get_current_pid_tgid();
	const struct kernel_late *note = bpf_map_lookup_elem(&late, &thread);
	bool same;

	if (!note)
		return 0;
	same = note->number == input->number;
	for (unsigned n = 0; n < KERNEL_COMPARED; n++)
		same &= note->arguments[n] == input->arguments[n];
	if (!same || (!kernel_put_noted(context, thread, input, note) && input->result != -BPF_EFAULT))
		kernel_count_unread();
	bpf_map_delete_elem(&late, &thread);
	return 0;
}

/* ---- the programs */

int kernel_enter(const uint64_t *context)
{
	const struct bpf_task *current = kernel_current();
	const uint32_t thread = kernel_thread(current);
	const struct kernel_syscall *call;
	struct kernel_input input;
	struct kernel_open open;
	int verdict = KERNEL_ACCEPTED;

	if (!kernel_call_is_followed(thread))
		return 1;
	call = kernel_find_call(current, context, &input, false);
	if (!call || !call->id)
		return 1;
	kernel_read_arguments(context, &input);
	input.result = 0;
	input.last_chance = !BPF_NUMBER(has_late);
	if (BPF_NUMBER(filters) && call->filter)
		verdict = kernel_chosen(context, thread, call->filter, &input);
	if (verdict == KERNEL_UNDECIDED)
		kernel_note_late(thread, &input, bpf_ktime_get_ns(), false);
	if (verdict != KERNEL_ACCEPTED || !kernel_begin(&open, KERNEL_LONGEST_ENTERED))
		return 1;
	*kernel_used(&open) = 0;
	kernel_put_arguments(&open, &input, call);
	verdict = open.ring->fields.unread != 0;
	kernel_end(&open, thread, call->id, *kernel_used(&open));
	if (BPF_NUMBER(has_late) && verdict)
		kernel_note_late(thread, &input, open.ns, true);
	return 1;
}

int kernel_exit(const uint64_t *context)
{
	const struct bpf_task *current = kernel_current();
	const uint32_t thread = kernel_thread(current);
	const struct kernel_syscall *call;
	struct kernel_input input;
	struct kernel_open open;

	if (!kernel_call_is_followed(thread))
		return 1;
	call = kernel_find_call(current, context, &input, true);
	if (!call || !(call->id | call->late))
		return 1;
	kernel_read_arguments(context, &input);
	input.result = (int64_t)context[1];
	input.last_chance = true;
	if (BPF_NUMBER(has_late) && call->late)
		kernel_exit_late(context, &input);
	if (!call->id)
		return 1;
	if (BPF_NUMBER(filters) && call->filter &&
	    kernel_chosen(context, thread, call->filter, &input) != KERNEL_ACCEPTED)
		return 1;
	if (!kernel_begin(&open, 8 + KERNEL_LONGEST_RETURNED))
		return 1;
	*kernel_used(&open) = 0;
	kernel_put64(&open, (uint64_t)input.result);
	if (call->last)
		kernel_put_last(&open, &input, call, true);
	kernel_end(&open, thread, call->id, *kernel_used(&open));
	return 1;
}

/*
 * An exec that has succeeded, and whose path was not in memory: it has other registers and another memory at its exit. The kernel's record
 * of it, sched_process_exec, has the path; the note has the other arguments.
 */
int kernel_exec(const char *record)
{
	struct kernel_input input = { .last_chance = true };
	struct kernel_late *note;
	uint32_t thread = 0, place = 0;

	/* Another thread than the first one has taken the first one's id by now. */
	bpf_probe_read_kernel(&thread, sizeof(thread), record + BPF_NUMBER(before));
	bpf_probe_read_kernel(&place, sizeof(place), record + BPF_NUMBER(path));
	note = bpf_map_lookup_elem(&late, &thread);
	if (!note || note->number != BPF_NUMBER(exec_number))
		return 1;
	/* By way of the note, the address is a number like the others. */
	*(const char *volatile *)&note->arguments[0] = record + (place & 0xffff);
	asm volatile("" ::: "memory");
	for (unsigned n = 0; n < KERNEL_LATE_ARGUMENTS; n++)
		input.arguments[n] = note->arguments[n];
	kernel_put_noted((const uint64_t *)record, thread, &input, note);
	bpf_map_delete_elem(&late, &thread);
	return 1;
}

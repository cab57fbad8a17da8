/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs of all system calls; see kernel_call_program.h. Registers: as kernel_record.c has them.
 *
 * Two programs serve all calls, one at entries and one at exits. The differences between calls are rows of a table,
 * by the call's number (struct kernel_syscall): put_describe() loads the row, and later parts take their bits of it
 * from KERNEL_STACK_CALL. A row that is 0 is a call that is not recorded. Parts that no chosen call needs are not
 * written at all (`calls`).
 *
 * Numbers of calls come from the process, so anything can be in the register. Those above the table and those of
 * other interfaces (32 bits) have a row of their own each, and the number becomes a field. The kernel ignores the
 * upper half, so programs do (put_call_number()).
 *
 * The order of a record: arguments, then what few calls have (put_last()): a socket's address, memory, lists or the
 * number. Texts move register 9. Memory that cannot be read is an empty array or a NULL text. At an entry, a text or
 * a socket's address of that kind makes the call noted, too, so that the exit reads all again (kernel_late.c). An
 * exit with an error has no memory: the kernel may have written none.
 *
 * longest_call() is the most that a record can have. The parts bound what they copy (TRACEPOINT_TEXT_MAX,
 * TRACEPOINT_SOCKET_MAX, ...), whatever lengths the process gave.
 */
#include <assert.h>
#include <errno.h>

#include "source/kernel/programs/kernel_call_program.h"
#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/bpf/kernel_late.h"
#include "source/kernel/bpf/kernel_list.h"
#include "source/kernel/bpf/kernel_message.h"
#include "source/kernel/bpf/kernel_record.h"
#include "wire/wire_record.h"

static_assert(sizeof(struct kernel_syscall) == 16, "kernel_syscall");

enum {
	KERNEL_RESTART_SLEEP =
		516, /* ERESTART_RESTARTBLOCK: a signal ended a sleep, whose rest is where the call wants it */
	/* Of all pieces of memory, with their lengths. */
	KERNEL_PIECES_BYTES =
		2 + TRACEPOINT_SOCKET_MAX + (TRACEPOINT_PIECES - 1) * (2 + TRACEPOINT_PIECE_MAX),
	/* The most of all that an exit has behind the result: a message, its address and its control messages. */
	KERNEL_LONGEST_RETURNED =
		2 + TRACEPOINT_SOCKET_MAX + 2 + KERNEL_MESSAGE_RECEIVED + 2 + TRACEPOINT_SOCKET_MAX,
};

static_assert(KERNEL_PIECES_BYTES <= KERNEL_LONGEST_RETURNED, "what an exit has");

static_assert(sizeof(((struct kernel_syscall *)0)->pieces) == 8, "kernel_call_program_put_memory()");

/* Where struct kernel_syscall has a member, as the lowest bit of the number that it is. */
#define CALL_SHIFT(member) ((int)offsetof(struct kernel_syscall, member) * 8)

/* The same of struct kernel_piece. */
#define PIECE_SHIFT(member) ((int)offsetof(struct kernel_piece, member) * 8)

/* Run the call's filter; register 1 has struct kernel_syscall. Changes registers 0 to 5. */
static void put_filters(struct bpf_program *to, const struct kernel_layout *layout,
			const struct kernel_calls *calls)
{
	unsigned done[KERNEL_FILTERS_MAX];

	if (!calls->filter_count)
		return;
	bpf_put_alu(to, BPF_RSH, BPF_REG_1, CALL_SHIFT(filter));
	bpf_put_alu(to, BPF_AND, BPF_REG_1, 0xff);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_FILTER, BPF_REG_1);
	for (unsigned n = 0; n < calls->filter_count; n++) {
		unsigned other;

		kernel_put_load(to, BPF_REG_1, BPF_REG_10, KERNEL_STACK_FILTER);
		other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, (int)n + 1);
		kernel_filter_put(to, layout, &calls->filters[n]);
		done[n] = bpf_put_jump(to, BPF_JA, 0, 0);
		bpf_land(to, other);
	}
	for (unsigned n = 0; n < calls->filter_count; n++)
		bpf_land(to, done[n]);
}

/*
 * KERNEL_STACK_NUMBER: of the system call, by which the tables have it. The kernel ignores the upper half.
 * @exits: an exit with KERNEL_CALL_NONE instead of the number ends the program: it is that of a signal handler, or of a call that was refused
 */
static void put_call_number(struct bpf_program *to, const struct kernel_layout *layout, bool exits)
{
	unsigned compat, named, unnamed, done;

	if (!layout->typed)
		kernel_put_registers(to);
	compat = kernel_put_other_interface(to, layout);
	kernel_put_register(to, layout, BPF_W, BPF_REG_1, REGISTERS_NUMBER);
	named = bpf_put_jump(to, BPF_JLT, BPF_REG_1, KERNEL_CALLS);
	if (exits) {
		bpf_put_number(to, BPF_REG_2, (uint32_t)KERNEL_CALL_NONE);
		unnamed = bpf_put_jump_register(to, BPF_JNE, BPF_REG_1, BPF_REG_2);
		kernel_put_exit(to);
		bpf_land(to, unnamed);
	}
	bpf_put_set(to, BPF_REG_1, KERNEL_CALL_UNNAMED);
	done = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, compat);
	bpf_put_set(to, BPF_REG_1, KERNEL_CALL_COMPAT);
	bpf_land(to, done);
	bpf_land(to, named);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_NUMBER, BPF_REG_1);
}

/* KERNEL_STACK_CALL and register 1: what is known of the call. End if it is not recorded. */
static void put_describe(struct bpf_program *to, const struct kernel_calls *calls)
{
	unsigned known, wanted;

	bpf_put_find(to, calls->map, KERNEL_STACK_NUMBER);
	known = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
	kernel_put_exit(to);
	bpf_land(to, known);
	kernel_put_load(to, BPF_REG_1, BPF_REG_0, 0);
	wanted = bpf_put_jump(to, BPF_JNE, BPF_REG_1, 0);
	kernel_put_exit(to);
	bpf_land(to, wanted);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_CALL, BPF_REG_1);
}

/* Some bits of KERNEL_STACK_CALL. */
static void put_call_part(struct bpf_program *to, unsigned target, int shift, int mask)
{
	kernel_put_load(to, target, BPF_REG_10, KERNEL_STACK_CALL);
	if (shift)
		bpf_put_alu(to, BPF_RSH, target, shift);
	bpf_put_alu(to, BPF_AND, target, mask);
}

/*
 * Put an argument: a text, 32 bits or 64. @place: its register's offset
 *
 * Of 32 bits, all 64 are stored; what follows overwrites the rest, at last the padding. Numbers of both sizes go one way, with a size that
 * the verifier does not know: then it finds that a way with a text before includes one with a number, and takes a twentieth of the time.
 */
static void kernel_call_program_put_argument(struct bpf_program *to, const struct kernel_layout *layout,
					     unsigned n, int at)
{
	const int place = kernel_argument_places[n];
	unsigned number, done;

	put_call_part(to, BPF_REG_2, CALL_SHIFT(texts) + (int)n, 1);
	number = bpf_put_jump(to, BPF_JEQ, BPF_REG_2, 0);
	kernel_put_argument_text(to, layout, BPF_REG_9, KERNEL_SLOTS + at,
				 &(struct kernel_unread){ .place = place });
	kernel_record_advance(to);
	done = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, number);
	kernel_put_register(to, layout, BPF_DW, BPF_REG_2, place);
	kernel_put_store(to, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_2);
	put_call_part(to, BPF_REG_1, CALL_SHIFT(shorts) + (int)n, 1);
	bpf_put_alu(to, BPF_LSH, BPF_REG_1, 2);
	bpf_put_set(to, BPF_REG_0, 8);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_0, BPF_REG_1);
	kernel_record_advance(to);
	bpf_land(to, done);
}

/* KERNEL_STACK_SOCKET of any call that has a socket's address. Register 1: its enum tracepoint_socket */
static void put_socket_place(struct bpf_program *to, const struct kernel_layout *layout, bool exits)
{
	unsigned done[TRACEPOINT_SOCKET_MESSAGE], n;

	for (n = TRACEPOINT_SOCKET_SECOND; n < TRACEPOINT_SOCKET_MESSAGE; n++) {
		const unsigned other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, (int)n);

		kernel_put_socket_place(to, layout, (enum tracepoint_socket)n, exits);
		done[n] = bpf_put_jump(to, BPF_JA, 0, 0);
		bpf_land(to, other);
	}
	kernel_put_socket_place(to, layout, TRACEPOINT_SOCKET_MESSAGE, exits);
	while (n-- > TRACEPOINT_SOCKET_SECOND)
		bpf_land(to, done[n]);
}

/*
 * Let the record go on behind the array of the bytes that were copied, as many as KERNEL_STACK_SOCKET_BYTES says. The number is read back
 * from the record, where the verifier knows no values, so all ways are alike from here on.
 */
static void put_array(struct bpf_program *to, int at)
{
	bpf_put_load(to, BPF_W, BPF_REG_0, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES);
	bpf_put_store(to, BPF_H, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_0);
	bpf_put_load(to, BPF_H, BPF_REG_0, BPF_REG_9, KERNEL_SLOTS + at);
	bpf_put_alu(to, BPF_AND, BPF_REG_0, 0xff);
	bpf_put_alu(to, BPF_ADD, BPF_REG_0, 2);
	kernel_record_advance(to);
}

/* Put KERNEL_STACK_LENGTH bytes at KERNEL_STACK_SOCKET as an array. It is empty if they cannot be read. */
static void kernel_call_program_put_bytes(struct bpf_program *to, int at)
{
	unsigned none, good;

	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_LENGTH);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES, BPF_REG_1);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	kernel_put_socket(to, BPF_REG_9, KERNEL_SLOTS + at + 2);
	good = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_SOCKET_BYTES, 0);
	bpf_land(to, none);
	bpf_land(to, good);
	put_array(to, at);
}

/* Put what sendto sends. */
static void put_sent(struct bpf_program *to, const struct kernel_layout *layout, int at)
{
	unsigned few;

	kernel_put_register(to, layout, BPF_DW, BPF_REG_1, kernel_argument_places[1]);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_SOCKET, BPF_REG_1);
	kernel_put_register(to, layout, BPF_DW, BPF_REG_1, kernel_argument_places[2]);
	few = bpf_put_jump(to, BPF_JLE, BPF_REG_1, TRACEPOINT_SOCKET_MAX);
	bpf_put_set(to, BPF_REG_1, TRACEPOINT_SOCKET_MAX);
	bpf_land(to, few);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_LENGTH, BPF_REG_1);
	kernel_call_program_put_bytes(to, at);
}

/* Put the bytes of a socket's address as an array, and then its message, or what is sent to it, if it has one. One that cannot be read is empty. Register 1: its enum tracepoint_socket */
static void kernel_call_program_put_socket(struct bpf_program *to, const struct kernel_layout *layout, int at,
					   bool exits)
{
	unsigned failed = 0, good, other, sent = 0, done = 0;

	if (exits) {
		kernel_put_load(to, BPF_REG_2, BPF_REG_6, KERNEL_RESULT);
		failed = bpf_put_jump(to, BPF_JSLT, BPF_REG_2, 0);
	}
	put_socket_place(to, layout, exits);
	kernel_put_socket(to, BPF_REG_9, KERNEL_SLOTS + at + 2);
	good = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	if (exits)
		bpf_land(to, failed);
	else if (layout->late >= 0)
		kernel_put_unread_socket(to, &(struct kernel_unread){ .jumps = false });
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_SOCKET_BYTES, 0);
	bpf_land(to, good);
	put_array(to, at);
	if (layout->in_kernel) /* an exec has none */
		return;
	put_call_part(to, BPF_REG_1, CALL_SHIFT(count) + KERNEL_COUNT_BITS, 0xff >> KERNEL_COUNT_BITS);
	if (!exits)
		sent = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, TRACEPOINT_SOCKET_FIFTH);
	other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, TRACEPOINT_SOCKET_MESSAGE);
	kernel_message_put(to, layout, BPF_REG_9, KERNEL_SLOTS + at + 2, exits);
	kernel_message_control(to, BPF_REG_9, KERNEL_SLOTS + at + 2);
	put_array(to, at);
	kernel_call_program_put_bytes(to, at);
	if (!exits) {
		done = bpf_put_jump(to, BPF_JA, 0, 0);
		bpf_land(to, sent);
		put_sent(to, layout, at);
		bpf_land(to, done);
	}
	bpf_land(to, other);
}

/* A part of the description of a piece, which register 5 has. */
static void put_piece_part(struct bpf_program *to, unsigned target, int shift, int mask)
{
	bpf_put_copy(to, target, BPF_REG_5);
	if (shift)
		bpf_put_alu(to, BPF_RSH, target, shift);
	bpf_put_alu(to, BPF_AND, target, mask);
}

/* Register 2: argument n, if register 1 has @first + n and bit @first + n of @used is set; else it stays. */
static void put_any_argument(struct bpf_program *to, const struct kernel_layout *layout, unsigned used,
			     unsigned first)
{
	for (unsigned n = 0; n < KERNEL_ARGUMENTS; n++)
		if (used & 1u << (first + n)) {
			const unsigned other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, (int)(first + n));

			kernel_put_register(to, layout, BPF_DW, BPF_REG_2, kernel_argument_places[n]);
			bpf_land(to, other);
		}
}

/* Register 2: bytes of what an ioctl points to, by its command. Changes registers 3 and 4. */
static void put_command_bytes(struct bpf_program *to, const struct kernel_layout *layout, bool exits)
{
	kernel_put_register(to, layout, BPF_W, BPF_REG_4, kernel_argument_places[1]);
	bpf_put_set(to, BPF_REG_2, 0);
	for (unsigned n = 0; n < tracepoint_command_count; n++) {
		const struct tracepoint_command *command = &tracepoint_commands[n];
		unsigned other;

		if (command->returns != exits)
			continue;
		bpf_put_number(to, BPF_REG_3, command->command);
		other = bpf_put_jump_register(to, BPF_JNE, BPF_REG_4, BPF_REG_3);
		bpf_put_set(to, BPF_REG_2, command->bytes);
		bpf_land(to, other);
	}
}

/* Register 2: 1 if an argument has one of the values, else 0. Changes register 3. */
static void put_condition(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct tracepoint_condition *condition)
{
	unsigned none;

	bpf_put_set(to, BPF_REG_2, 0);
	kernel_put_register(to, layout, BPF_W, BPF_REG_3, kernel_argument_places[condition->argument]);
	bpf_put_alu(to, BPF_AND, BPF_REG_3, (int)condition->mask);
	none = bpf_put_jump(to, BPF_JGE, BPF_REG_3, 64);
	bpf_put_number(to, BPF_REG_2, condition->values);
	bpf_put_alu_register(to, BPF_RSH, BPF_REG_2, BPF_REG_3);
	bpf_put_alu(to, BPF_AND, BPF_REG_2, 1);
	bpf_land(to, none);
}

/* Register 2: how many elements a piece of memory has. */
static void put_piece_times(struct bpf_program *to, const struct kernel_layout *layout, unsigned used,
			    bool exits)
{
	static const uint8_t others[] = { TRACEPOINT_TIMES_RESULT, TRACEPOINT_TIMES_COMMAND,
					  TRACEPOINT_TIMES_BITS, TRACEPOINT_TIMES_STOPPED };

	put_piece_part(to, BPF_REG_1, KERNEL_PLACE_BITS, 0xff >> KERNEL_PLACE_BITS);
	bpf_put_set(to, BPF_REG_2, 1);
	put_any_argument(to, layout, used, TRACEPOINT_TIMES_ARGUMENT);
	for (unsigned n = 0; n < sizeof(others); n++) {
		unsigned other;

		if (!(used & 1u << others[n]))
			continue;
		other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, others[n]);
		if (others[n] == TRACEPOINT_TIMES_COMMAND) {
			put_command_bytes(to, layout, exits);
		} else if (others[n] == TRACEPOINT_TIMES_BITS) {
			kernel_put_register(to, layout, BPF_W, BPF_REG_2, kernel_argument_places[0]);
			bpf_put_alu(to, BPF_ADD, BPF_REG_2, 7);
			bpf_put_alu(to, BPF_RSH, BPF_REG_2, 3);
		} else {
			kernel_put_load(to, BPF_REG_2, BPF_REG_6, KERNEL_RESULT);
			if (others[n] == TRACEPOINT_TIMES_STOPPED) /* no other error comes here */
				bpf_put_alu(to, BPF_RSH, BPF_REG_2, 63);
		}
		bpf_land(to, other);
	}
	for (unsigned n = 0; n < TRACEPOINT_CONDITIONS; n++) {
		unsigned other;

		if (!(used & 1u << (TRACEPOINT_TIMES_IF + n)))
			continue;
		other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, (int)(TRACEPOINT_TIMES_IF + n));
		put_condition(to, layout, &tracepoint_conditions[n]);
		bpf_land(to, other);
	}
}

/* KERNEL_STACK_SOCKET: where a piece of memory is, and its size. Register 5: its description */
static void put_piece_place(struct bpf_program *to, const struct kernel_layout *layout,
			    const struct kernel_calls *calls, unsigned piece, bool exits)
{
	const int most = piece ? TRACEPOINT_PIECE_MAX : TRACEPOINT_SOCKET_MAX;
	unsigned few;

	put_piece_part(to, BPF_REG_1, 0, (1 << KERNEL_PLACE_BITS) - 1);
	bpf_put_set(to, BPF_REG_2, 0);
	put_any_argument(to, layout, calls->memory[piece], 0);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_SOCKET, BPF_REG_2);
	put_piece_times(to, layout, calls->times[piece], exits);
	few = bpf_put_jump(to, BPF_JLE, BPF_REG_2, most);
	bpf_put_set(to, BPF_REG_2, most);
	bpf_land(to, few);
	put_piece_part(to, BPF_REG_1, PIECE_SHIFT(bytes), 0xff);
	bpf_put_alu_register(to, BPF_MUL, BPF_REG_1, BPF_REG_2);
	few = bpf_put_jump(to, BPF_JLE, BPF_REG_1, most);
	bpf_put_set(to, BPF_REG_1, most);
	bpf_land(to, few);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES, BPF_REG_1);
}

/* Put a piece as an array. One that cannot be read, or of a call that failed, has no bytes. Register 5: its description */
static void put_piece(struct bpf_program *to, const struct kernel_layout *layout,
		      const struct kernel_calls *calls, unsigned piece, int at, bool exits)
{
	const bool stops = exits && calls->times[piece] & 1u << TRACEPOINT_TIMES_STOPPED;
	unsigned failed = 0, stopped = 0, good;

	if (exits) {
		kernel_put_load(to, BPF_REG_2, BPF_REG_6, KERNEL_RESULT);
		if (stops)
			stopped = bpf_put_jump(to, BPF_JEQ, BPF_REG_2, -KERNEL_RESTART_SLEEP);
		failed = bpf_put_jump(to, BPF_JSLT, BPF_REG_2, 0);
		if (stops)
			bpf_land(to, stopped);
	}
	put_piece_place(to, layout, calls, piece, exits);
	kernel_put_socket(to, BPF_REG_9, KERNEL_SLOTS + at + 2);
	good = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	if (exits)
		bpf_land(to, failed);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_SOCKET_BYTES, 0);
	bpf_land(to, good);
	put_array(to, at);
}

/* Put the memory that arguments point to. */
static void kernel_call_program_put_memory(struct bpf_program *to, const struct kernel_layout *layout,
					   const struct kernel_calls *calls, int at, bool exits)
{
	unsigned none[TRACEPOINT_PIECES], unknown, n;

	bpf_put_find(to, calls->map, KERNEL_STACK_NUMBER);
	bpf_put_set(to, BPF_REG_5, 0);
	unknown = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	kernel_put_load(to, BPF_REG_5, BPF_REG_0, (int)offsetof(struct kernel_syscall, pieces));
	bpf_land(to, unknown);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_PIECES, BPF_REG_5);
	for (n = 0; n < TRACEPOINT_PIECES && calls->memory[n]; n++) {
		kernel_put_load(to, BPF_REG_5, BPF_REG_10, KERNEL_STACK_PIECES);
		if (n)
			bpf_put_alu(to, BPF_RSH, BPF_REG_5, (int)(n * sizeof(struct kernel_piece)) * 8);
		bpf_put_alu(to, BPF_AND, BPF_REG_5, 0xffff);
		none[n] = bpf_put_jump(to, BPF_JEQ, BPF_REG_5, 0);
		put_piece(to, layout, calls, n, at, exits);
	}
	while (n--)
		bpf_land(to, none[n]);
}

/* Put the lists of an exec. One that has succeeded has another memory. Register 1: KERNEL_HAS_LIST or KERNEL_HAS_LIST_THIRD */
static void kernel_call_program_put_lists(struct bpf_program *to, const struct kernel_layout *layout, int at)
{
	if (layout->without_lists) {
		kernel_list_put_none(to, at);
	} else if (layout->in_kernel) {
		kernel_list_put_new(to, layout, at);
	} else {
		bpf_put_alu(to, BPF_SUB, BPF_REG_1, KERNEL_HAS_LIST);
		kernel_list_put(to, layout, at);
	}
}

static bool has_last(const struct kernel_calls *calls)
{
	return calls->sockets || calls->numbers || calls->lists || calls->vectors || calls->memory[0];
}

/* Put what few calls have behind the other fields. */
static void put_last(struct bpf_program *to, const struct kernel_layout *layout,
		     const struct kernel_calls *calls, int at, bool exits)
{
	/* An exec has none of these. */
	const bool points = calls->memory[0] && !layout->in_kernel,
		   vectors = calls->vectors && !layout->in_kernel;
	unsigned none, numbered, listed = 0, pointed = 0, vectored = 0, done[4] = { 0 };

	if (!has_last(calls))
		return;
	put_call_part(to, BPF_REG_1, CALL_SHIFT(count) + KERNEL_COUNT_BITS, 0xff >> KERNEL_COUNT_BITS);
	none = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	numbered = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, KERNEL_HAS_NUMBER);
	if (points)
		pointed = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, KERNEL_HAS_MEMORY);
	if (vectors)
		vectored = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, KERNEL_HAS_VECTORS);
	if (calls->lists)
		listed = bpf_put_jump(to, BPF_JGE, BPF_REG_1, KERNEL_HAS_LIST);
	kernel_call_program_put_socket(to, layout, at, exits);
	done[0] = bpf_put_jump(to, BPF_JA, 0, 0);
	if (calls->lists) {
		bpf_land(to, listed);
		kernel_call_program_put_lists(to, layout, at);
		done[1] = bpf_put_jump(to, BPF_JA, 0, 0);
	}
	if (points) {
		bpf_land(to, pointed);
		kernel_call_program_put_memory(to, layout, calls, at, exits);
		done[2] = bpf_put_jump(to, BPF_JA, 0, 0);
	}
	if (vectors) {
		bpf_land(to, vectored);
		kernel_message_put_vectors(to, layout, BPF_REG_9, KERNEL_SLOTS + at + 2);
		put_array(to, at);
		done[3] = bpf_put_jump(to, BPF_JA, 0, 0);
	}
	bpf_land(to, numbered);
	kernel_put_register(to, layout, BPF_W, BPF_REG_1, REGISTERS_NUMBER);
	bpf_put_store(to, BPF_W, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_1);
	bpf_put_set(to, BPF_REG_0, 4);
	kernel_record_advance(to);
	bpf_land(to, done[0]);
	if (calls->lists)
		bpf_land(to, done[1]);
	if (points)
		bpf_land(to, done[2]);
	if (vectors)
		bpf_land(to, done[3]);
	bpf_land(to, none);
}

static_assert(KERNEL_LIST_MAX <= KERNEL_ARGUMENTS * TRACEPOINT_TEXT_MAX, "longest_call()");
static_assert(KERNEL_ARGUMENTS * 8 + 2 + TRACEPOINT_SOCKET_MAX + 2 + KERNEL_MESSAGE_SENT + 2 +
			      TRACEPOINT_SOCKET_MAX <=
		      KERNEL_ARGUMENTS * TRACEPOINT_TEXT_MAX,
	      "the same of a message");

static unsigned longest_call(const struct kernel_layout *layout)
{
	return kernel_record_payload(layout) + 8 + KERNEL_ARGUMENTS * TRACEPOINT_TEXT_MAX +
	       KERNEL_PIECES_BYTES + WIRE_ALIGN;
}

/* Put all arguments. STACK_UNREAD: not 0 if one could not be read. */
static void kernel_call_program_put_arguments(struct bpf_program *to, const struct kernel_layout *layout,
					      const struct kernel_calls *calls, int at)
{
	unsigned ends[KERNEL_ARGUMENTS];

	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, KERNEL_STACK_TEXTS, 0);
	if (layout->late >= 0) {
		kernel_put_load(to, BPF_REG_1, BPF_REG_7, KERNEL_RING(zero));
		bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_UNREAD, BPF_REG_1);
	}
	for (unsigned n = 0; n < KERNEL_ARGUMENTS; n++) {
		put_call_part(to, BPF_REG_1, CALL_SHIFT(count), (1 << KERNEL_COUNT_BITS) - 1);
		ends[n] = bpf_put_jump(to, BPF_JLE, BPF_REG_1, (int)n);
		kernel_call_program_put_argument(to, layout, n, at);
	}
	for (unsigned n = 0; n < KERNEL_ARGUMENTS; n++)
		bpf_land(to, ends[n]);
	put_last(to, layout, calls, at, false);
}

void kernel_program_enter(struct bpf_program *to, const struct kernel_layout *layout,
			  const struct kernel_calls *calls)
{
	unsigned read;

	bpf_begin(to);
	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	kernel_record_filter(to, layout, NULL, false);
	put_call_number(to, layout, false);
	put_describe(to, calls);
	put_filters(to, layout, calls);
	kernel_record_begin(to, layout, longest_call(layout));
	kernel_call_program_put_arguments(to, layout, calls, kernel_record_payload(layout));
	put_call_part(to, BPF_REG_5, CALL_SHIFT(id), 0xffff);
	kernel_record_commit(to, layout, kernel_record_payload(layout), true, 0);
	if (layout->late >= 0) {
		bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_UNREAD);
		read = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
		kernel_late_note(to, layout, true);
		bpf_land(to, read);
	}
	kernel_put_exit(to);
}

/* Write the arguments of a noted call. Register 7: whether its filter has accepted it; else it decides now */
static void put_noted(struct bpf_program *to, const struct kernel_layout *layout,
		      const struct kernel_calls *calls)
{
	struct kernel_layout decided = *layout;
	const int at = kernel_record_payload(layout);
	unsigned undecided;

	decided.late = -1;
	put_describe(to, calls);
	undecided = bpf_put_jump(to, BPF_JEQ, BPF_REG_7, 0);
	bpf_put_number(to, BPF_REG_2, ~(0xffull << CALL_SHIFT(filter)));
	bpf_put_alu_register(to, BPF_AND, BPF_REG_1, BPF_REG_2);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_CALL, BPF_REG_1);
	bpf_land(to, undecided);
	put_filters(to, &decided, calls);
	kernel_record_begin(to, layout, longest_call(layout));
	kernel_put_load(to, BPF_REG_1, BPF_REG_10, KERNEL_STACK_NOW);
	kernel_put_load(to, BPF_REG_2, BPF_REG_10, KERNEL_STACK_ENTERED);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_1, BPF_REG_2);
	kernel_put_store(to, BPF_REG_9, KERNEL_SLOTS + at, BPF_REG_1);
	kernel_call_program_put_arguments(to, layout, calls, at + 8);
	put_call_part(to, BPF_REG_5, CALL_SHIFT(late), 0xffff);
	kernel_record_commit(to, layout, at + 8, true, 0);
}

/* The same at the exit: a function of its program, with the same context. */
static void put_late(struct bpf_program *to, const struct kernel_layout *layout,
		     const struct kernel_calls *calls)
{
	unsigned read, wrong;

	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	bpf_put_call(to, BPF_FUNC_get_current_pid_tgid);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_TID, BPF_REG_0);
	kernel_late_take(to, layout, layout->late, KERNEL_STACK_ENTERED);
	put_noted(to, layout, calls);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_UNREAD);
	read = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	kernel_put_load(to, BPF_REG_1, BPF_REG_6, KERNEL_RESULT);
	wrong = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, -EFAULT);
	kernel_late_count_unread(to, layout);
	bpf_land(to, wrong);
	bpf_land(to, read);
	kernel_put_exit(to);
}

bool kernel_program_exec(struct bpf_program *to, const struct kernel_layout *layout,
			 const struct kernel_calls *entries, int number, const struct tracepoint *point)
{
	const struct tracepoint_field *path = tracepoint_field(point, "filename"),
				      *before = tracepoint_field(point, "old_pid");
	struct kernel_layout kept = *layout;

	if (!path || path->kind != TRACEPOINT_TEXT || !before || before->size != 4)
		return false;
	kept.typed = false;
	kept.in_kernel = true;
	kept.late = -1; /* nothing is read later */
	bpf_begin(to);
	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	/* Another thread than the first one has taken the first one's id by now. */
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_6, before->offset);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_TID, BPF_REG_1);
	kernel_late_take_exec(to, layout, number, KERNEL_STACK_ENTERED);
	kernel_put_text_address(to, BPF_REG_3, path);
	kernel_put_set_register(to, kernel_argument_places[0], BPF_REG_3);
	put_noted(to, &kept, entries);
	kernel_put_exit(to);
	return !to->full;
}

void kernel_program_exit(struct bpf_program *to, const struct kernel_layout *layout,
			 const struct kernel_calls *calls)
{
	const int at = kernel_record_payload(layout);
	unsigned call = 0, other, wanted;

	bpf_begin(to);
	bpf_put_copy(to, BPF_REG_6, BPF_REG_1);
	kernel_record_filter(to, layout, NULL, false);
	put_call_number(to, layout, true);
	put_describe(to, calls);
	if (calls->entries) {
		bpf_put_alu(to, BPF_RSH, BPF_REG_1, CALL_SHIFT(late));
		other = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
		bpf_put_copy(to, BPF_REG_1, BPF_REG_6);
		call = bpf_put_function_call(to);
		bpf_land(to, other);
		put_call_part(to, BPF_REG_1, CALL_SHIFT(id), 0xffff);
		wanted = bpf_put_jump(to, BPF_JNE, BPF_REG_1, 0);
		kernel_put_exit(to);
		bpf_land(to, wanted);
		kernel_put_load(to, BPF_REG_1, BPF_REG_10, KERNEL_STACK_CALL);
	}
	put_filters(to, layout, calls);
	kernel_record_begin(to, layout, at + 8 + KERNEL_LONGEST_RETURNED + WIRE_ALIGN);
	kernel_record_number(to, at, 8, KERNEL_RESULT);
	if (has_last(calls))
		bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, KERNEL_STACK_TEXTS, 0);
	put_last(to, layout, calls, at + 8, true);
	put_call_part(to, BPF_REG_5, CALL_SHIFT(id), 0xffff);
	kernel_record_commit(to, layout, at + 8, has_last(calls), 0);
	kernel_put_exit(to);
	if (calls->entries) {
		bpf_land_function(to, call);
		put_late(to, layout, calls->entries);
	}
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parts of programs that are written when the recording begins; see kernel_put.h. */
#include "source/kernel/bpf/kernel_put.h"
#include "source/kernel/in_kernel/kernel_parts.bpf.h"

unsigned kernel_size_code(unsigned bytes)
{
	return bytes == 8 ? BPF_DW : bytes == 4 ? BPF_W : bytes == 2 ? BPF_H : BPF_B;
}

void kernel_put_result(struct bpf_program *to, int number)
{
	bpf_put_set(to, BPF_REG_0, number);
	bpf_put_end(to);
}

/* ---- arguments of probes */

/* Register 3: an address in the program. */
static void kernel_put_place(struct bpf_program *to, const struct tracepoint_source *source)
{
	bpf_put_number(to, BPF_REG_3, (uint64_t)source->number);
	if (source->base != TRACEPOINT_NO_REGISTER) {
		bpf_put_load(to, BPF_DW, BPF_REG_1, KERNEL_REG_CONTEXT, source->base);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_3, BPF_REG_1);
	}
	if (source->index != TRACEPOINT_NO_REGISTER) {
		bpf_put_load(to, BPF_DW, BPF_REG_1, KERNEL_REG_CONTEXT, source->index);
		bpf_put_alu(to, BPF_LSH, BPF_REG_1, source->scale);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_3, BPF_REG_1);
	}
}

/* Register 1: the value of some bytes at register 3, which are in the kernel; 0: they cannot be read. */
static void put_read_kernel(struct bpf_program *to, unsigned bytes)
{
	bpf_put_address(to, BPF_REG_1, KERNEL_STACK_VALUE);
	bpf_put_set(to, BPF_REG_2, (int)bytes);
	bpf_put_call(to, BPF_FUNC_probe_read_kernel);
	bpf_put_load(to, kernel_size_code(bytes), BPF_REG_1, BPF_REG_10, KERNEL_STACK_VALUE);
}

/* Register 1: a value in the context, or what is behind that pointer. */
static void put_from_context(struct bpf_program *to, const struct tracepoint_field *field)
{
	const struct tracepoint_source *source = &field->source;

	bpf_put_copy(to, BPF_REG_3, KERNEL_REG_CONTEXT);
	bpf_put_alu(to, BPF_ADD, BPF_REG_3, source->base);
	put_read_kernel(to, 8);
	for (unsigned n = 0; n < source->steps; n++) {
		const bool last = n + 1 == source->steps;

		bpf_put_copy(to, BPF_REG_3, BPF_REG_1);
		bpf_put_alu(to, BPF_ADD, BPF_REG_3, source->offsets[n]);
		if (last && source->is_address)
			bpf_put_copy(to, BPF_REG_1, BPF_REG_3);
		else
			put_read_kernel(to, last ? field->bytes : 8);
	}
}

void kernel_put_argument(struct bpf_program *to, const struct tracepoint_field *field)
{
	const struct tracepoint_source *source = &field->source;

	if (source->place == TRACEPOINT_NUMBER) {
		bpf_put_number(to, BPF_REG_1, (uint64_t)source->number);
	} else if (source->place == TRACEPOINT_REGISTER) {
		bpf_put_load(to, BPF_DW, BPF_REG_1, KERNEL_REG_CONTEXT, source->base);
		if (source->shift)
			bpf_put_alu(to, BPF_RSH, BPF_REG_1, source->shift);
	} else if (source->place == TRACEPOINT_CONTEXT) {
		put_from_context(to, field);
	} else {
		kernel_put_place(to, source);
		bpf_put_address(to, BPF_REG_1, KERNEL_STACK_VALUE);
		bpf_put_set(to, BPF_REG_2, field->bytes);
		bpf_put_call(to, BPF_FUNC_probe_read_user);
		bpf_put_load(to, kernel_size_code(field->bytes), BPF_REG_1, BPF_REG_10, KERNEL_STACK_VALUE);
	}
}

/* ---- texts */

static void kernel_put_to(struct bpf_program *to, unsigned base, int offset)
{
	bpf_put_copy(to, BPF_REG_1, base);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, offset);
}

void kernel_put_user_text(struct bpf_program *to, unsigned base, int offset)
{
	kernel_put_to(to, base, offset);
	bpf_put_code_call(to, &kernel_text_user);
}

void kernel_put_text_address(struct bpf_program *to, const struct tracepoint_field *field)
{
	if (field->source.place != TRACEPOINT_RECORD) {
		kernel_put_argument(to, field);
		bpf_put_copy(to, BPF_REG_2, BPF_REG_1);
		return;
	}
	if (field->kind == TRACEPOINT_TEXT) {
		bpf_put_load(to, BPF_W, BPF_REG_1, KERNEL_REG_CONTEXT, field->offset);
		bpf_put_alu(to, BPF_AND, BPF_REG_1, 0xffff);
	} else {
		bpf_put_set(to, BPF_REG_1, field->offset);
	}
	bpf_put_copy(to, BPF_REG_2, KERNEL_REG_CONTEXT);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_2, BPF_REG_1);
}

void kernel_put_text(struct bpf_program *to, unsigned base, int offset, const struct tracepoint_field *field)
{
	kernel_put_text_address(to, field);
	if (field->kind == TRACEPOINT_USER_TEXT) {
		unsigned read;

		kernel_put_user_text(to, base, offset);
		read = bpf_put_jump(to, BPF_JSGE, BPF_REG_0, 0);
		bpf_put_set(to, BPF_REG_0, KERNEL_NULL_BYTES);
		bpf_land(to, read);
		return;
	}
	kernel_put_to(to, base, offset);
	if (field->kind == TRACEPOINT_CHARS) { /* it has its whole size */
		bpf_put_set(to, BPF_REG_3, field->size);
		bpf_put_code_call(to, &kernel_text_chars);
	} else {
		bpf_put_code_call(to, &kernel_text_kernel);
	}
}

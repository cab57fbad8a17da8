/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's description of a tracepoint, as burin record -k reads it: its system, its name, and the text of its file `format`, each with
 * a NUL but the last; of the system "usdt", the text is a program's description of the arguments of a probe. A chosen event is valid, and its
 * program is whole: the kernel need not find faults in it.
 */
#include "fuzz.h"
#include "source/kernel/programs/kernel_program.h"
#include "source/kernel/probes/probe_arguments.h"
#include "wire/wire_format.h"

static const struct kernel_layout layout = { .rings = 3, .members = 4, .window = 64, .reach = 1 << 30 };

/* The next text, and its NUL. */
static const char *next_text(struct fuzz_input *input, char *out, size_t bytes)
{
	const uint8_t *end = memchr(input->at, 0, input->left);
	const size_t length = end ? (size_t)(end - input->at) : input->left;

	snprintf(out, bytes, "%.*s", (int)length, (const char *)input->at);
	input->at += length + (end != NULL);
	input->left -= length + (end != NULL);
	return out;
}

static void check_event(const struct tracepoint *point)
{
	struct format format;
	const char *why = NULL;
	unsigned recorded = 0;

	FUZZ_HOLDS(!strncmp(point->event, TRACEPOINT_PREFIX, strlen(TRACEPOINT_PREFIX)));
	FUZZ_HOLDS(point->count <= TRACEPOINT_FIELDS);
	for (unsigned n = 0; n < point->count; n++) {
		const struct tracepoint_field *field = &point->fields[n];

		recorded += field->recorded;
		FUZZ_HOLDS(!field->recorded || (*field->name && field->kind != TRACEPOINT_OTHER));
		FUZZ_HOLDS(!field->recorded || tracepoint_field(point, field->name));
		/* A field that the kernel does not have is computed by the program. */
		FUZZ_HOLDS(!field->recorded || field->size || point->is_probe ||
			   field->kind >= TRACEPOINT_CALL);
	}
	FUZZ_HOLDS(format_parse(point->format, point->types, &format, &why) == 0);
	FUZZ_HOLDS(format.count == recorded);
}

/* All jumps go forward, to instructions that are there, and the last one is an end. */
static void check_program(const struct bpf_program *program)
{
	FUZZ_HOLDS(program->count && program->count <= BPF_PROGRAM_MAX);
	FUZZ_HOLDS(program->code[program->count - 1].code == (BPF_JMP | BPF_EXIT));
	for (unsigned n = 0; n < program->count; n++) {
		const struct bpf_insn *put = &program->code[n];

		if (BPF_CLASS(put->code) == BPF_JMP && BPF_OP(put->code) != BPF_CALL &&
		    BPF_OP(put->code) != BPF_EXIT)
			FUZZ_HOLDS(put->off >= 0 && n + 1 + (unsigned)put->off < program->count);
	}
}

/* A probe in a program: what its file says of the arguments. @name: what the user gives, such as "(a:i32, b:str)" */
static void take_note(struct tracepoint *point, const char *name, const char *text,
		      struct bpf_program *program)
{
	struct probe_arguments given;
	char why[PROBE_WHY];

	if (!probe_arguments_parse(&given, *name == '(' ? name : NULL, why))
		return;
	*point = (struct tracepoint){ .system = "usdt", .name = "fuzz", .is_probe = true, .file = -1 };
	probe_arguments_of_note(point, &given, text);
	tracepoint_make_event(point);
	check_event(point);
	if (kernel_program_write(program, &layout, point, NULL, 7))
		check_program(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	char system[TRACEPOINT_NAME], name[TRACEPOINT_NAME], *text;
	struct bpf_program *program = malloc(sizeof(*program)); /* its end is that of the memory */
	struct tracepoint point;
	bool enters;

	FUZZ_HOLDS(program);
	next_text(&input, system, sizeof(system));
	next_text(&input, name, sizeof(name));
	text = fuzz_text(input.at, input.left);
	if (strcmp(system, "usdt") == 0) {
		take_note(&point, name, text, program);
	} else if (tracepoint_parse(&point, system, name, text)) {
		check_event(&point);
		if (!tracepoint_syscall(&point, &enters) &&
		    kernel_program_write(program, &layout, &point, NULL, 7))
			check_program(program);
	}
	free(program);
	free(text);
	return 0;
}

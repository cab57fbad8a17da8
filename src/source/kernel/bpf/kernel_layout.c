/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The part that all programs of a recording share; see kernel_layout.h. */
#include "source/kernel/bpf/kernel_layout.h"
#include "wire/wire_context.h"

unsigned kernel_symbols(const struct kernel_layout *layout, struct bpf_symbol *out)
{
	const struct bpf_symbol all[] = {
		{ "rings", BPF_SYMBOL_MAP, (uint64_t)layout->rings },
		{ "members", BPF_SYMBOL_VALUE, (uint64_t)layout->members },
		{ "met", BPF_SYMBOL_MAP, (uint64_t)layout->met },
		{ "packets", BPF_SYMBOL_MAP, (uint64_t)layout->packets },
		{ "late", BPF_SYMBOL_MAP, (uint64_t)layout->late },
		{ "follows", BPF_SYMBOL_NUMBER, layout->members >= 0 },
		{ "has_packets", BPF_SYMBOL_NUMBER, layout->packets >= 0 },
		{ "notes_met", BPF_SYMBOL_NUMBER, layout->met >= 0 },
		{ "has_late", BPF_SYMBOL_NUMBER, layout->late >= 0 },
		{ "window", BPF_SYMBOL_NUMBER, layout->window },
		{ "reach", BPF_SYMBOL_NUMBER, layout->reach },
		{ "overwrite", BPF_SYMBOL_NUMBER, layout->overwrite },
		{ "context_bytes", BPF_SYMBOL_NUMBER, wire_context_bytes(layout->context) },
		{ "typed", BPF_SYMBOL_NUMBER, layout->typed },
		{ "task_id", BPF_SYMBOL_NUMBER, layout->task.id },
		{ "task_status", BPF_SYMBOL_NUMBER, layout->task.status },
		{ "without_lists", BPF_SYMBOL_NUMBER, layout->without_lists },
	};
	const unsigned count = sizeof(all) / sizeof(all[0]);

	for (unsigned n = 0; n < count; n++)
		out[n] = all[n];
	out[count] = (struct bpf_symbol){ 0 };
	return count;
}

bool kernel_has_registers(const struct kernel_layout *layout)
{
	return !layout->without_calls;
}

/* kernel_call_is_compat(): the mode alone does not show the second kind. */
bool kernel_tells_interfaces(const struct kernel_layout *layout)
{
#ifdef __x86_64__
	return layout->typed && layout->task.status;
#else
	(void)layout;
	return true;
#endif
}

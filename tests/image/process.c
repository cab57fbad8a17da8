/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* See process.h. */
#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "process.h"

static size_t read_memory(pid_t pid, uint64_t from, void *to, size_t bytes)
{
	const struct iovec local = { .iov_base = to, .iov_len = bytes };
	const struct iovec remote = { .iov_base = (void *)from, .iov_len = bytes };
	const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

/* The image of a mapping's code. */
static void take_image(struct process *process, struct process_mapping *mapping, uint64_t offset)
{
	struct image image;
	char *memory = NULL;
	int error;

	if (!strcmp(mapping->path, "[vdso]")) {
		const size_t bytes = mapping->end - mapping->begin;

		memory = malloc(bytes);
		error = memory && read_memory(process->pid, mapping->begin, memory, bytes) == bytes
				? image_open_memory(&image, memory, bytes)
				: -EFAULT;
	} else {
		const int fd = open(mapping->path, O_RDONLY | O_CLOEXEC);

		error = fd < 0 ? -errno : image_open(&image, fd);
	}
	for (unsigned n = 0; !error && n < image.segment_count; n++) {
		const struct image_segment *segment = &image.segments[n];

		if (segment->executable && segment->offset < offset + (mapping->end - mapping->begin) &&
		    segment->offset + segment->bytes > offset)
			mapping->bias = mapping->begin - offset + segment->offset - segment->address;
	}
	if (!error) {
		unwind_table_open(&mapping->table, &image);
		image_close(&image);
	}
	free(memory);
}

int process_open(struct process *process, pid_t pid)
{
	char path[64], line[1024], rights[8];
	FILE *file;

	*process = (struct process){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	process->mappings = calloc(4096, sizeof(*process->mappings));
	while (process->mappings && process->count < 4096 && fgets(line, sizeof(line), file)) {
		struct process_mapping *mapping = &process->mappings[process->count];
		unsigned long begin, end, offset;

		mapping->path[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511[^\n]", &begin, &end, rights, &offset,
			   mapping->path) < 4)
			continue;
		mapping->begin = begin;
		mapping->end = end;
		mapping->executable = rights[2] == 'x';
		if (mapping->executable && (mapping->path[0] == '/' || !strcmp(mapping->path, "[vdso]")))
			take_image(process, mapping, offset);
		process->count++;
	}
	fclose(file);
	return process->mappings ? 0 : -ENOMEM;
}

void process_close(struct process *process)
{
	for (size_t n = 0; n < process->count; n++)
		unwind_table_close(process->mappings[n].table);
	free(process->mappings);
}

const struct process_mapping *process_mapping(const struct process *process, uint64_t address)
{
	size_t low = 0, high = process->count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (process->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < process->count && process->mappings[low].begin <= address ? &process->mappings[low]
									       : NULL;
}

struct unwind_table *process_lookup(void *context, uint64_t address, uint64_t *bias,
				    enum wire_truncation *why)
{
	const struct process_mapping *mapping = process_mapping(context, address);

	if (!mapping || !mapping->executable) {
		*why = WIRE_TRUNCATION_MEMORY;
		return NULL;
	}
	*bias = mapping->bias;
	return mapping->table;
}

size_t process_stack(const struct process *process, uint64_t from, unsigned char *copy, size_t max)
{
	const struct process_mapping *mapping = process_mapping(process, from);

	if (!mapping)
		return 0;
	if (max > mapping->end - from)
		max = mapping->end - from;
	return read_memory(process->pid, from, copy, max);
}

void process_registers(const struct user_regs_struct *user, struct unwind_registers *registers)
{
	const uint64_t mask = ((UINT64_C(1) << PERF_REG_X86_64_MAX) - 1) &
			      ~(UINT64_C(0x3f) << PERF_REG_X86_CS | UINT64_C(1) << PERF_REG_X86_FLAGS);
	const uint64_t values[] = { user->rax, user->rbx, user->rcx, user->rdx, user->rsi, user->rdi,
				    user->rbp, user->rsp, user->rip, user->r8,	user->r9,  user->r10,
				    user->r11, user->r12, user->r13, user->r14, user->r15 };

	if (unwind_registers_from_perf(registers, PERF_SAMPLE_REGS_ABI_64, mask, values))
		abort();
}

unsigned process_chain(pid_t pid, const struct user_regs_struct *user, uint64_t *chain, unsigned max)
{
	uint64_t record[2] = { user->rbp };
	unsigned count = 0;

	chain[count++] = user->rip;
	while (count < max && read_memory(pid, record[0], record, sizeof(record)) == sizeof(record))
		chain[count++] = record[1];
	return count;
}

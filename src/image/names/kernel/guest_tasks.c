/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tasks of a guest; see guest_tasks.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf/btf.h"
#include "image/elf/image.h"
#include "image/names/kernel/guest_tasks.h"

enum {
	TASK_MAX = 1 << 15, /* bytes; the plugin reads all that it needs of a task at once */
};

static const char section_of_cpus[] = ".data..percpu";

static bool guest_tasks_find_task(const struct btf *btf, struct guest_tasks *tasks)
{
	const uint32_t task = btf_structure(btf, "task_struct");
	const struct {
		const char *name;
		uint64_t *place;
	} members[] = { { "stack", &tasks->stack },
			{ "pid", &tasks->pid },
			{ "tgid", &tasks->tgid },
			{ "group_leader", &tasks->leader },
			{ "comm", &tasks->name } };

	for (unsigned n = 0; n < sizeof(members) / sizeof(*members); n++)
		if (!btf_member(btf, task, members[n].name, members[n].place) || *members[n].place > TASK_MAX)
			return false;
	return true;
}

/* From Linux 6.2 to 6.14 the pointer to the task is in a structure. */
static bool guest_tasks_find_current(const struct btf *btf, struct guest_tasks *tasks)
{
	uint64_t inside;

	if (btf_variable(btf, section_of_cpus, "current_task", &tasks->current))
		return true;
	if (!btf_variable(btf, section_of_cpus, "pcpu_hot", &tasks->current) ||
	    !btf_member(btf, btf_structure(btf, "pcpu_hot"), "current_task", &inside))
		return false;
	tasks->current += inside;
	return true;
}

/*
 * Where the CPUs' data are. @address: that of their section; UINT64_MAX: unknown. Up to Linux 6.14 it was 0, since the
 * compiler's canary had to be at a certain distance from the base.
 */
static int find_cpu(const struct btf *btf, struct guest_tasks *tasks, uint64_t address)
{
	uint64_t entry;

	if (btf_variable(btf, section_of_cpus, "__entry_task", &entry)) { /* only aarch64 has it */
		tasks->current = tasks->base = 0;
		return 0;
	}
	if (!guest_tasks_find_current(btf, tasks) ||
	    !btf_variable(btf, section_of_cpus, "this_cpu_off", &tasks->base))
		return -ENODATA;
	/* The interrupts' stacks are as large as those of tasks. */
	tasks->stack_bytes = btf_size(btf, btf_structure(btf, "irq_stack"));
	if (btf_structure(btf, "fixed_percpu_data") || btf_structure(btf, "irq_stack_union"))
		return 0;
	if (address == UINT64_MAX)
		return -ENOTSUP;
	tasks->current += address;
	tasks->base += address;
	return 0;
}

static int read_btf(struct guest_tasks *tasks, const char *bytes, size_t count, uint64_t address)
{
	struct btf btf;
	int error = btf_open(&btf, bytes, count);

	if (error)
		return error;
	error = guest_tasks_find_task(&btf, tasks) ? find_cpu(&btf, tasks, address) : -ENODATA;
	btf_close(&btf);
	return error;
}

static int guest_tasks_read_elf(struct guest_tasks *tasks, const struct image *image)
{
	struct image_section types, cpus;
	uint64_t address = UINT64_MAX;
	char *bytes;
	int error;

	if (image_section(image, ".BTF", &types) != 0)
		return -ENOEXEC;
	if (types.bytes > BTF_BYTES_MAX)
		return -EFBIG;
	bytes = malloc((size_t)types.bytes + 1);
	if (!bytes)
		return -ENOMEM;
	if (image_section(image, section_of_cpus, &cpus) == 0)
		address = cpus.address;
	error = read_btf(tasks, bytes, image_read(image, types.offset, bytes, (size_t)types.bytes), address);
	free(bytes);
	return error;
}

static int read_raw(struct guest_tasks *tasks, int file)
{
	char *bytes = malloc(BTF_BYTES_MAX + 1);
	size_t count = 0;
	ssize_t got;
	int error;

	if (!bytes)
		return -ENOMEM;
	do {
		got = pread(file, bytes + count, BTF_BYTES_MAX + 1 - count, (off_t)count);
		count += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	error = got < 0 ? -errno : count > BTF_BYTES_MAX ? -EFBIG : read_btf(tasks, bytes, count, UINT64_MAX);
	free(bytes);
	return error;
}

int guest_tasks_read(struct guest_tasks *tasks, int file)
{
	struct image image;
	int error, copy = dup(file);

	*tasks = (struct guest_tasks){ 0 };
	if (copy < 0)
		return -errno;
	error = image_open(&image, copy); /* which closes the copy */
	if (error == -ENOEXEC)
		return read_raw(tasks, file);
	if (!error) {
		error = guest_tasks_read_elf(tasks, &image);
		image_close(&image);
	}
	return error;
}

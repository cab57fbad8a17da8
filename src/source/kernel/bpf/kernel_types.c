/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's types; see kernel_types.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf/btf.h"
#include "source/kernel/bpf/kernel_types.h"

/* The whole file, mapped or read. */
struct types {
	char *bytes;
	size_t count;
	bool mapped;
};

/* It is of the kernel, which states its size; from Linux 6.16 on it can be mapped. */
static void kernel_types_open_types(struct types *types)
{
	const int file = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct stat status;
	ssize_t got = 1;

	*types = (struct types){ 0 };
	if (file < 0)
		return;
	if (fstat(file, &status) == 0 && status.st_size > 0 && status.st_size <= BTF_BYTES_MAX) {
		types->bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		types->mapped = types->bytes != MAP_FAILED;
		types->count = types->mapped ? (size_t)status.st_size : 0;
		if (!types->mapped)
			types->bytes = malloc((size_t)status.st_size);
	}
	while (!types->mapped && types->bytes && types->count < (size_t)status.st_size && got > 0) {
		got = read(file, types->bytes + types->count, (size_t)status.st_size - types->count);
		if (got > 0)
			types->count += (size_t)got;
	}
	close(file);
}

static void close_types(struct types *types)
{
	if (types->mapped)
		munmap(types->bytes, types->count);
	else
		free(types->bytes);
}

int kernel_types_find(const char *const *names, uint32_t *numbers, unsigned count)
{
	struct types types;
	bool found;

	kernel_types_open_types(&types);
	found = types.bytes && btf_typedefs(types.bytes, types.count, names, numbers, count);
	close_types(&types);
	return found ? 0 : -ENOENT;
}

int kernel_types_calls(uint32_t types[2])
{
	static const char *const names[] = { "btf_trace_sys_enter", "btf_trace_sys_exit" };

	return kernel_types_find(names, types, 2);
}

static unsigned kernel_types_find_member(const struct btf *btf, uint32_t structure, const char *name)
{
	uint64_t bytes = 0;

	return btf_member(btf, structure, name, &bytes) && bytes <= INT16_MAX ? (unsigned)bytes : 0;
}

/* The name of an executable file. */
static void find_program(const struct btf *btf, struct kernel_task_type *out)
{
	const uint32_t file = btf_structure(btf, "file"), entry = btf_structure(btf, "dentry");
	uint64_t path, inside, name, text;

	if (!btf_member(btf, file, "f_path", &path) ||
	    !btf_member(btf, btf_structure(btf, "path"), "dentry", &inside) ||
	    !btf_member(btf, entry, "d_name", &name) ||
	    !btf_member(btf, btf_structure(btf, "qstr"), "name", &text))
		return;
	out->file = kernel_types_find_member(btf, btf_structure(btf, "mm_struct"), "exe_file");
	out->entry = (unsigned)(path + inside);
	out->name = (unsigned)(name + text);
}

void kernel_types_task(struct kernel_task_type *out)
{
	struct types types;
	struct btf btf;

	*out = (struct kernel_task_type){ 0 };
	kernel_types_open_types(&types);
	if (types.bytes && btf_open(&btf, types.bytes, types.count) == 0) {
		out->type = btf_structure(&btf, "task_struct");
		out->id = kernel_types_find_member(&btf, out->type, "pid");
		out->stack = kernel_types_find_member(&btf, out->type, "stack");
#ifdef __x86_64__ /* where it is the first member */
		out->status = kernel_types_find_member(&btf, btf_structure(&btf, "thread_info"), "status");
#endif
		out->memory = kernel_types_find_member(&btf, out->type, "mm");
		out->state = kernel_types_find_member(&btf, out->type, "__state"); /* Linux 5.14 */
		out->cast = btf_function(&btf, "bpf_rdonly_cast");
		find_program(&btf, out);
		out->each = btf_function(&btf, "bpf_iter_task");
		btf_close(&btf);
	}
	close_types(&types);
}

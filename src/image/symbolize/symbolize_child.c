/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The child that reads one image; see symbolize_child.h. Here: the kernel, and code made at run time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/elf/debugfile.h"
#include "image/elf/image.h"
#include "image/names/jitmap.h"
#include "image/names/kernel/kernel_lookup.h"
#include "image/names/kernel/kernel_names.h"
#include "image/symbolize/symbolize_child.h"
#include "image/symbolize/symbolize_confine.h"
#include "image/symbolize/symbolize_elf.h"

static void send_simple(struct child *child, uint64_t offset, uint64_t from, uint64_t size, uint32_t name,
			uint32_t file, uint32_t line)
{
	child_begin(child, CHILD_LOCATION);
	child_put(child, offset);
	child_put(child, size ? from : 0);
	child_put(child, size);
	child_put(child, 1);
	child_put(child, name);
	child_put(child, file);
	child_put(child, line);
	child_end(child);
}

static bool is_running(const struct child_task *task)
{
	const struct symbolize_image *of = task->image;
	unsigned char id[IMAGE_BUILD_ID_MAX];
	const size_t bytes = kernel_build_id(of->kind == WIRE_IMAGE_MODULE ? of->path : "", id, sizeof(id));

	return !*task->root && (!of->build_id_bytes || !bytes ||
				(bytes == of->build_id_bytes && !memcmp(id, of->build_id, bytes)));
}

/*
 * By the kernel, where it runs a program for us; else from its list of all names.
 * @lasting: set to whether a function keeps its place as long as the kernel is the same; the list also has code of BPF programs
 * Return: 0 or a negative errno.
 */
static int find_functions(const struct child_task *task, struct kernel_function *functions,
			  struct kernel_names *names, struct arena *texts, bool *lasting)
{
	const char *module = task->image->kind == WIRE_IMAGE_MODULE ? task->image->path : "";
	int error;

	*names = (struct kernel_names){ 0 };
	*lasting = false;
	/* Code that the kernel made at run time, or a module that is gone: the list of all names, which is long, has none either. */
	if (*module && !kernel_names_lists("/proc/modules", module)) {
		memset(functions, 0, task->count * sizeof(*functions));
		return 0;
	}
	*lasting = kernel_lookup(module, task->offsets, task->count, functions, texts) == 0;
	if (*lasting)
		return 0;
	error = kernel_names_read(names, "/proc/kallsyms", "/proc/modules");
	for (size_t n = 0; n < task->count && !error; n++)
		functions[n].name = kernel_names_find(names, module, task->offsets[n], &functions[n].begin,
						      &functions[n].size);
	return error;
}

static void send_functions(struct child *child, const struct kernel_function *functions)
{
	const struct child_task *task = child->task;

	for (size_t n = 0; n < task->count; n++) {
		const struct kernel_function *function = &functions[n];

		if (function->name)
			send_simple(child, task->offsets[n], function->begin, function->size,
				    child_text(child, function->name, strlen(function->name), true), 0, 0);
		child_done(child);
	}
	child_send_image(child, WIRE_SYMBOLS_TABLE, false, "");
}

static int child_kernel(struct child *child)
{
	const struct child_task *task = child->task;
	struct kernel_function *functions;
	struct kernel_names names;
	struct arena texts = { 0 };
	bool lasting;
	int error;

	if (!is_running(task)) {
		child_send_image(child, WIRE_SYMBOLS_NONE, false,
				 "another kernel is running now; names come only from the running kernel");
		return 0;
	}
	functions = calloc(task->count + 1, sizeof(*functions));
	error = functions ? find_functions(task, functions, &names, &texts, &lasting) : -ENOMEM;
	if (!error) {
		child_confine(child, NULL, 0);
		if (lasting)
			child_send_lasting(child);
		send_functions(child, functions);
		kernel_names_free(&names);
	} else if (functions) {
		child_send_image(
			child, WIRE_SYMBOLS_NONE, false,
			error == -EPERM
				? "root, or sysctl kernel.kptr_restrict=0: the kernel hides its addresses"
				: "/proc/kallsyms");
	}
	arena_free(&texts);
	free(functions);
	return error == -EPERM || error == -EACCES || error == -ENOENT ? 0 : error;
}

static int child_jit(struct child *child)
{
	const struct child_task *task = child->task;
	struct jitmap_name *names = calloc(task->count + 1, sizeof(*names));
	struct jitmap map;
	const int file = task->image->file >= 0 ? dup(task->image->file)
						: debugfile_map(task->image->path, task->root);
	bool lines = false, whole = true;
	int error = file < 0 ? file : names ? 0 : -ENOMEM;

	if (!error) {
		child_confine(child, &file, 1);
		error = jitmap_read(&map, file);
	}
	if (error)
		child_send_unreadable(
			child, *task->image->path ? strerror(-error)
						  : "it could not be opened as a file of the process's user");
	else if (task->image->kind == WIRE_IMAGE_JITDUMP)
		whole = jitdump_find(&map, task->offsets, task->count, names);
	else
		whole = jitmap_find(&map, task->offsets, task->count, names);
	for (size_t n = 0; n < task->count && !error; n++) {
		const struct jitmap_name *name = &names[n];

		if (name->name) {
			const uint32_t text = child_text(child, name->name, name->bytes, true);
			const uint32_t source =
				name->file ? child_text(child, name->file, strlen(name->file), false) : 0;

			send_simple(child, task->offsets[n], name->begin, name->size, text, source,
				    name->line);
			lines |= source != 0;
		}
		child_done(child);
	}
	if (!error) {
		child_send_image(child, lines ? WIRE_SYMBOLS_LINES : WIRE_SYMBOLS_TABLE, false,
				 whole ? "" : "it has too many entries for the same code; not all are read");
		jitmap_free(&map);
	}
	free(names);
	if (file >= 0)
		close(file);
	return error == -ENOMEM ? error : 0;
}

/* How programs that make code at run time write a map of it. */
static const char *hint_of_memory(const char *path)
{
	static const struct {
		const char *program, *hint;
	} makers[] = {
		{ "java", "the map that java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit writes "
			  "(JDK 17 or later)" },
		{ "node", "the map that node --perf-basic-prof writes" },
	};
	const size_t bytes = sizeof(WIRE_IMAGE_MADE_OF) - 1;

	if (strncmp(path, WIRE_IMAGE_MADE, sizeof(WIRE_IMAGE_MADE) - 1) != 0)
		return "";
	for (unsigned n = 0; n < sizeof(makers) / sizeof(makers[0]); n++) {
		if (!strncmp(path, WIRE_IMAGE_MADE_OF, bytes) && !strcmp(path + bytes, makers[n].program))
			return makers[n].hint;
	}
	return "for code made at run time, the program must write /tmp/perf-PID.map or a jitdump";
}

/* Memory without a file. If the program wrote a map later, that also names the code of before. */
static int child_memory(struct child *child)
{
	if (child->task->image->file >= 0)
		return child_jit(child);
	child_send_image(child, WIRE_SYMBOLS_NONE, false, hint_of_memory(child->task->image->path));
	return 0;
}

int symbolize_child(const struct child_task *task, int pipe, int asks)
{
	struct child *child = calloc(1, sizeof(*child));
	int error = 0;

	if (!child)
		return -ENOMEM;
	child->task = task;
	child->pipe = pipe;
	child->asks = asks;
	switch (task->image->kind) {
	case WIRE_IMAGE_FILE:
	case WIRE_IMAGE_VDSO:
		error = child_elf(child);
		break;
	case WIRE_IMAGE_KERNEL:
	case WIRE_IMAGE_MODULE:
		error = child_kernel(child);
		break;
	case WIRE_IMAGE_JIT:
	case WIRE_IMAGE_JITDUMP:
		error = child_jit(child);
		break;
	case WIRE_IMAGE_ANONYMOUS:
		error = child_memory(child);
		break;
	default:
		child_send_image(child, WIRE_SYMBOLS_NONE, false, "");
		break;
	}
	child_flush(child);
	error = error ? error : child->error;
	texts_free(&child->texts);
	free(child);
	return error;
}

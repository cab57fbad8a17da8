/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One image, in a process of its own; see symbolise_child.h. Here: the kernel, and code made at run time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/debugfile.h"
#include "image/image.h"
#include "image/jitmap.h"
#include "image/kernel_names.h"
#include "image/symbolise_say.h"

static void say_simple(struct child *child, uint64_t offset, uint64_t from, uint64_t size, uint32_t name,
		       uint32_t file, uint32_t line)
{
	child_begin(child, CHILD_PLACE);
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
	const struct symbolise_image *of = task->image;
	unsigned char id[IMAGE_BUILD_ID_MAX];
	const size_t bytes = kernel_build_id(of->kind == WIRE_IMAGE_MODULE ? of->path : "", id, sizeof(id));

	return !*task->root && (!of->build_id_bytes || !bytes ||
				(bytes == of->build_id_bytes && !memcmp(id, of->build_id, bytes)));
}

static int child_kernel(struct child *child)
{
	const struct child_task *task = child->task;
	struct kernel_names names;
	int error;

	if (!is_running(task)) {
		child_say_image(child, WIRE_SYMBOLS_NONE, false,
				"another kernel runs now; only a running kernel is asked");
		return 0;
	}
	error = kernel_names_read(&names, "/proc/kallsyms", "/proc/modules");
	if (error) {
		child_say_image(
			child, WIRE_SYMBOLS_NONE, false,
			error == -EPERM
				? "root, or sysctl kernel.kptr_restrict=0: the kernel hides its addresses"
				: "/proc/kallsyms");
		return error == -ENOMEM ? error : 0;
	}
	for (size_t n = 0; n < task->count; n++) {
		const char *module = task->image->kind == WIRE_IMAGE_MODULE ? task->image->path : NULL;
		uint64_t from, size;
		const char *name = kernel_names_find(&names, module, task->offsets[n], &from, &size);

		if (name)
			say_simple(child, task->offsets[n], from, size,
				   child_text(child, name, strlen(name), true), 0, 0);
		child_done(child);
	}
	child_say_image(child, WIRE_SYMBOLS_TABLE, false, "");
	kernel_names_free(&names);
	return 0;
}

static int child_jit(struct child *child)
{
	const struct child_task *task = child->task;
	struct jitmap_name *names = calloc(task->count + 1, sizeof(*names));
	struct jitmap map;
	const int file = task->image->file >= 0 ? dup(task->image->file)
						: debugfile_descriptor(task->image->path, task->root);
	bool lines = false;
	int error = file < 0 ? file : names ? jitmap_read(&map, file) : -ENOMEM;

	if (error)
		child_say_unreadable(child, strerror(-error));
	else if (task->image->kind == WIRE_IMAGE_JITDUMP)
		jitdump_find(&map, task->offsets, task->count, names);
	else
		jitmap_find(&map, task->offsets, task->count, names);
	for (size_t n = 0; n < task->count && !error; n++) {
		const struct jitmap_name *name = &names[n];

		if (name->name) {
			const uint32_t text = child_text(child, name->name, name->bytes, true);
			const uint32_t source =
				name->file ? child_text(child, name->file, strlen(name->file), false) : 0;

			say_simple(child, task->offsets[n], name->begin, name->size, text, source,
				   name->line);
			lines |= source != 0;
		}
		child_done(child);
	}
	if (!error) {
		child_say_image(child, lines ? WIRE_SYMBOLS_LINES : WIRE_SYMBOLS_TABLE, false, "");
		jitmap_free(&map);
	}
	free(names);
	if (file >= 0)
		close(file);
	return error == -ENOMEM ? error : 0;
}

/* Memory without a file. If its maker has told of it after all, that is good for the code before, too. */
static int child_memory(struct child *child)
{
	if (child->task->image->file >= 0)
		return child_jit(child);
	child_say_image(
		child, WIRE_SYMBOLS_NONE, false,
		*child->task->image->path
			? ""
			: "what makes code at run time has to tell of it: /tmp/perf-PID.map, or a jitdump");
	return 0;
}

int symbolise_child(const struct child_task *task, int pipe)
{
	struct child *child = calloc(1, sizeof(*child));
	int error = 0;

	if (!child)
		return -ENOMEM;
	child->task = task;
	child->pipe = pipe;
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
		child_say_image(child, WIRE_SYMBOLS_NONE, false, "");
		break;
	}
	child_flush(child);
	error = error ? error : child->error;
	texts_free(&child->texts);
	free(child);
	return error;
}

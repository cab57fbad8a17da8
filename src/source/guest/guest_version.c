/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version of the interface that QEMU needs; see guest_version.h. */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "source/guest/guest_version.h"

enum {
	DATA_MAJOR = 11, /* the first QEMU that has QEMU_VERSION_DATA and refuses others */
	DATA_MINOR = 1,
};

int qemu_plugin_version = QEMU_VERSION_MIN;

static const struct guest_callbacks *own;

/* @text: a version such as 11.1.3 */
static bool is_new(const char *text)
{
	char *end;
	const unsigned long major = strtoul(text, &end, 10),
			    minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return major > DATA_MAJOR || (major == DATA_MAJOR && minor >= DATA_MINOR);
}

/* Look for the text in a part of the program's file that is never written to. */
static bool find_version(const char *memory, size_t bytes)
{
	static const char printed[] = "QEMU emulator version ";
	const char *found = memmem(memory, bytes, printed, sizeof(printed) - 1);

	if (found && is_new(found + sizeof(printed) - 1))
		qemu_plugin_version = QEMU_VERSION_DATA;
	return found != NULL;
}

/* The first object is the program. */
static int look_into_program(struct dl_phdr_info *program, size_t bytes, void *data)
{
	(void)bytes;
	(void)data;
	for (size_t n = 0; n < program->dlpi_phnum; n++) {
		const ElfW(Phdr) *part = &program->dlpi_phdr[n];

		if (part->p_type == PT_LOAD && (part->p_flags & (PF_R | PF_W)) == PF_R &&
		    find_version((const char *)(program->dlpi_addr + part->p_vaddr), part->p_filesz))
			break;
	}
	return 1;
}

/* Before QEMU reads the variable. */
static __attribute__((constructor)) void choose_version(void)
{
	dl_iterate_phdr(look_into_program, NULL);
}

/* ---- Callbacks with the plugin's id, up to version 6 */

static void on_vcpu_by_id(qemu_id id, unsigned index)
{
	(void)id;
	own->on_vcpu(index);
}

static void on_block_by_id(qemu_id id, struct qemu_block *block)
{
	(void)id;
	own->on_block(block);
}

static void on_flush_by_id(qemu_id id)
{
	(void)id;
	own->on_flush();
}

static void on_exit_by_id(qemu_id id, void *data)
{
	(void)id;
	(void)data;
	own->on_exit();
}

/* ---- Callbacks with data */

static void on_vcpu_by_data(unsigned index, void *data)
{
	(void)data;
	own->on_vcpu(index);
}

static void on_block_by_data(struct qemu_block *block, void *data)
{
	(void)data;
	own->on_block(block);
}

static void on_flush_by_data(void *data)
{
	(void)data;
	own->on_flush();
}

static void on_exit_by_data(void *data)
{
	(void)data;
	own->on_exit();
}

void guest_version_register(qemu_id id, const struct guest_callbacks *callbacks)
{
	static const struct {
		qemu_callback on_vcpu, on_block, on_flush, on_exit;
	} all[] = {
		{ (qemu_callback)on_vcpu_by_id, (qemu_callback)on_block_by_id, (qemu_callback)on_flush_by_id,
		  (qemu_callback)on_exit_by_id },
		{ (qemu_callback)on_vcpu_by_data, (qemu_callback)on_block_by_data,
		  (qemu_callback)on_flush_by_data, (qemu_callback)on_exit_by_data },
	};
	const bool by_data = qemu_plugin_version >= QEMU_VERSION_DATA;

	own = callbacks;
	qemu_plugin_register_vcpu_init_cb(id, all[by_data].on_vcpu, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, all[by_data].on_block, NULL);
	qemu_plugin_register_flush_cb(id, all[by_data].on_flush, NULL);
	qemu_plugin_register_atexit_cb(id, all[by_data].on_exit, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptors of the device. Their mappings of the session look for its pages again after a change. */
#ifndef BURIN_KERNEL_VIEWS_H
#define BURIN_KERNEL_VIEWS_H

#include <linux/fs.h>
#include <linux/list.h>

/* An open descriptor. Its mappings keep it. */
struct view {
	struct list_head list;
	struct file *file;
};

void views_add(struct view *view, struct file *file);
void views_remove(struct view *view);

/* views_cut - let mappings of a part of the session look for its pages again. Context: any lock but that of the list. */
void views_cut(u64 offset, u64 bytes);

#endif

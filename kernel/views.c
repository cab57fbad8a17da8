// SPDX-License-Identifier: GPL-2.0-only
/* The descriptors of the device; see views.h. */
#include <linux/mm.h>
#include <linux/mutex.h>

#include "views.h"

static LIST_HEAD(all);
/* Of the list only: it is taken while CPUs come and go, too. */
static DEFINE_MUTEX(views_mutex);

void views_add(struct view *view, struct file *file)
{
	view->file = file;
	mutex_lock(&views_mutex);
	list_add(&view->list, &all);
	mutex_unlock(&views_mutex);
}

void views_remove(struct view *view)
{
	mutex_lock(&views_mutex);
	list_del(&view->list);
	mutex_unlock(&views_mutex);
}

void views_cut(u64 offset, u64 bytes)
{
	struct view *view;

	mutex_lock(&views_mutex);
	list_for_each_entry(view, &all, list) unmap_mapping_range(view->file->f_mapping, offset, bytes, 1);
	mutex_unlock(&views_mutex);
}

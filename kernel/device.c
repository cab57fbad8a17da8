// SPDX-License-Identifier: GPL-2.0-only
/* The device /dev/burin: a read-only mapping of the session, and requests. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "module.h"
#include "wire/wire_device.h"

/* An open descriptor. Its mappings keep it. */
struct opened {
	struct list_head list;
	struct file *file;
};

static LIST_HEAD(all_opened);
static DEFINE_MUTEX(opened_mutex);
static struct opened *claimant; /* the reader that consumes */

static int open(struct inode *inode, struct file *file)
{
	const int locked = security_locked_down(LOCKDOWN_TRACEFS);
	struct opened *opened;

	if (locked)
		return locked;
	opened = kzalloc(sizeof(*opened), GFP_KERNEL);
	if (!opened)
		return -ENOMEM;
	opened->file = file;
	file->private_data = opened;
	mutex_lock(&opened_mutex);
	list_add(&opened->list, &all_opened);
	mutex_unlock(&opened_mutex);
	return nonseekable_open(inode, file);
}

static int release(struct inode *inode, struct file *file)
{
	struct opened *opened = file->private_data;

	mutex_lock(&opened_mutex);
	list_del(&opened->list);
	if (claimant == opened)
		claimant = NULL;
	mutex_unlock(&opened_mutex);
	kfree(opened);
	return 0;
}

void device_unmap(u64 offset, u64 bytes)
{
	struct opened *opened;

	mutex_lock(&opened_mutex);
	list_for_each_entry(opened, &all_opened, list)
		unmap_mapping_range(opened->file->f_mapping, offset, bytes, 1);
	mutex_unlock(&opened_mutex);
}

static vm_fault_t fault(struct vm_fault *fault)
{
	struct page *page = memory_page((u64)fault->pgoff << PAGE_SHIFT);

	if (!page)
		return VM_FAULT_SIGBUS;
	fault->page = page;
	return 0;
}

static const struct vm_operations_struct mapping_operations = { .fault = fault };

static int map(struct file *file, struct vm_area_struct *area)
{
	const u64 pages = burin_session.geometry.file_bytes / PAGE_SIZE, count = vma_pages(area);

	if (area->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	/* Not VM_SHARED, which a descriptor for reading only does not have. */
	if (!(area->vm_flags & VM_MAYSHARE) || area->vm_pgoff > pages || count > pages - area->vm_pgoff)
		return -EINVAL;
	compat_forbid_writing(area);
	area->vm_ops = &mapping_operations;
	return 0;
}

static long request(struct file *file, unsigned int number, unsigned long argument)
{
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	switch (number) {
	case WIRE_DEVICE_CHANGE:
		return control_change((const struct wire_device_change __user *)argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.mmap = map,
	.unlocked_ioctl = request,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "burin",
	.mode = 0600,
	.fops = &operations,
};

int device_begin(void)
{
	return misc_register(&device);
}

void device_end(void)
{
	misc_deregister(&device);
}

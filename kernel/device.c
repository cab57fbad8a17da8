// SPDX-License-Identifier: GPL-2.0-only
/* The device /dev/burin: a read-only mapping of the session, and requests. */
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/magic.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uuid.h>

#include "compat.h"
#include "control.h"
#include "device.h"
#include "memory.h"
#include "record.h"
#include "views.h"
#include "wire/wire_device.h"

/* After burin_mutex, before the lock of CPU hotplug, which a reset takes. */
static DEFINE_MUTEX(claim_mutex);
static struct view *claimant; /* the reader that consumes */

/* Whether a file is one that the kernel makes: others may be pipes, which wait, or have any content. */
static bool is_of_proc(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return S_ISREG(inode->i_mode) && inode->i_sb->s_magic == PROC_SUPER_MAGIC;
}

/* As the kernel gives it to all, in the root directory of init: the caller may have another file there. */
static bool read_boot_id(uuid_t *id)
{
	char text[40] = "";
	struct file *file;
	struct path root;
	loff_t at = 0;

	task_lock(&init_task);
	get_fs_root(init_task.fs, &root);
	task_unlock(&init_task);
	file = file_open_root(&root, "proc/sys/kernel/random/boot_id", O_RDONLY | O_NONBLOCK, 0);
	path_put(&root);
	if (IS_ERR(file))
		return false;
	if (is_of_proc(file))
		kernel_read(file, text, UUID_STRING_LEN, &at);
	filp_close(file, NULL);
	return uuid_parse(text, id) == 0;
}

/* The boot's identity. It is not there before /proc is mounted. */
static void find_boot_id(void)
{
	static bool found;
	uuid_t id;

	if (READ_ONCE(found) || !read_boot_id(&id))
		return;
	mutex_lock(&burin_mutex);
	memcpy(burin_session.geometry.boot_id, &id, sizeof(id));
	memcpy(burin_session.shared->geometry.boot_id, &id, sizeof(id));
	WRITE_ONCE(found, true);
	mutex_unlock(&burin_mutex);
}

static int open(struct inode *inode, struct file *file)
{
	const int locked = security_locked_down(LOCKDOWN_TRACEFS);
	struct view *view;

	if (locked)
		return locked;
	view = kzalloc(sizeof(*view), GFP_KERNEL);
	if (!view)
		return -ENOMEM;
	find_boot_id();
	file->private_data = view;
	views_add(view, file);
	return nonseekable_open(inode, file);
}

static long claim(struct view *view)
{
	long error = 0;

	mutex_lock(&claim_mutex);
	if (claimant && claimant != view)
		error = -EBUSY;
	else
		claimant = view;
	mutex_unlock(&claim_mutex);
	return error;
}

static long give_up(struct view *view)
{
	long error = 0;

	mutex_lock(&claim_mutex);
	if (claimant == view)
		claimant = NULL;
	else
		error = -EPERM;
	mutex_unlock(&claim_mutex);
	return error;
}

static int release(struct inode *inode, struct file *file)
{
	struct view *view = file->private_data;

	views_remove(view);
	give_up(view);
	kfree(view);
	return 0;
}

static vm_fault_t fault(struct vm_fault *fault)
{
	int error = security_locked_down(LOCKDOWN_TRACEFS); /* since it was mapped */

	if (!error)
		error = memory_insert(fault->vma, fault->address & PAGE_MASK,
				      (u64)fault->pgoff << PAGE_SHIFT);
	return error == -ENOMEM ? VM_FAULT_OOM : error ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
}

static const struct vm_operations_struct mapping_operations = { .fault = fault };

static int map(struct file *file, struct vm_area_struct *area)
{
	const u64 pages = burin_session.geometry.file_bytes / PAGE_SIZE, count = vma_pages(area);

	if (area->vm_flags & (VM_WRITE | VM_EXEC) || security_locked_down(LOCKDOWN_TRACEFS))
		return -EPERM;
	/* Not VM_SHARED, which a descriptor for reading only does not have. */
	if (!(area->vm_flags & VM_MAYSHARE) || area->vm_pgoff > pages || count > pages - area->vm_pgoff)
		return -EINVAL;
	compat_map_pages(area);
	area->vm_ops = &mapping_operations;
	return 0;
}

static __poll_t poll(struct file *file, struct poll_table_struct *table)
{
	poll_wait(file, &record_wait, table);
	/* In the queue before the condition is tested. Pairs with wq_has_sleeper() in record.c. */
	smp_mb();
	return control_readable() ? EPOLLIN | EPOLLRDNORM : 0;
}

static long consume(struct view *view, const struct wire_device_consume __user *user)
{
	struct wire_device_consume request;
	long error;

	if (copy_from_user(&request, user, sizeof(request)))
		return -EFAULT;
	if (request.reserved)
		return -EINVAL;
	mutex_lock(&burin_mutex);
	mutex_lock(&claim_mutex);
	error = claimant == view ? control_consume(request.ring, request.sequence) : -EPERM;
	mutex_unlock(&claim_mutex);
	mutex_unlock(&burin_mutex);
	return error;
}

int device_reset(void)
{
	int error = -EBUSY;

	mutex_lock(&burin_mutex);
	mutex_lock(&claim_mutex);
	if (!claimant) {
		memory_reset();
		error = 0;
	}
	mutex_unlock(&claim_mutex);
	mutex_unlock(&burin_mutex);
	return error;
}

static long close_packets(struct view *view)
{
	long error = -EPERM;

	mutex_lock(&burin_mutex);
	mutex_lock(&claim_mutex);
	if (claimant == view && burin_session.geometry.mode == WIRE_MODE_STREAM) {
		memory_close_packets();
		error = 0;
	}
	mutex_unlock(&claim_mutex);
	mutex_unlock(&burin_mutex);
	return error;
}

static long request(struct file *file, unsigned int number, unsigned long argument)
{
	struct view *view = file->private_data;
	const int locked = security_locked_down(LOCKDOWN_TRACEFS); /* since it was view */

	if (locked)
		return locked;
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	switch (number) {
	case WIRE_DEVICE_CHANGE:
		return control_change((const struct wire_device_change __user *)argument);
	case WIRE_DEVICE_CONSUME:
		return consume(view, (const struct wire_device_consume __user *)argument);
	case WIRE_DEVICE_CLAIM:
		return claim(view);
	case WIRE_DEVICE_RELEASE:
		return give_up(view);
	case WIRE_DEVICE_COUNTS:
		return control_counts((struct wire_device_counts __user *)argument);
	case WIRE_DEVICE_CLOSE:
		return close_packets(view);
	case WIRE_DEVICE_RESET:
		return device_reset();
	default:
		return -ENOTTY;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.mmap = map,
	.poll = poll,
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A view of the session in debugfs, for shells without Burin: burin/enabled (0 pauses), info, overflow, reset,
 * events/NAME/enable and buffers/cpuN (the packets of a ring, oldest first). It is not there if the kernel is locked down.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "control.h"
#include "debugfs.h"
#include "device.h"
#include "ring/copy.h"
#include "state.h"

static struct dentry *top, *events;
static u32 listed; /* events that have a folder */

static ssize_t read_flag(char __user *user, size_t bytes, loff_t *at, bool on)
{
	const char text[] = { on ? '1' : '0', '\n' };

	return simple_read_from_buffer(user, bytes, at, text, sizeof(text));
}

/* "0" or "1", and a newline or none; kstrtobool() would look at the first letter only. */
static int write_flag(const char __user *user, size_t bytes, bool *on)
{
	char text[2];

	if (!bytes || bytes > sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, user, bytes))
		return -EFAULT;
	if ((text[0] != '0' && text[0] != '1') || (bytes == 2 && text[1] != '\n'))
		return -EINVAL;
	*on = text[0] == '1';
	return 0;
}

/* ---- enabled */

static ssize_t enabled_read(struct file *file, char __user *user, size_t bytes, loff_t *at)
{
	return read_flag(user, bytes, at, !READ_ONCE(burin_session.shared->paused));
}

static ssize_t enabled_write(struct file *file, const char __user *user, size_t bytes, loff_t *at)
{
	bool on;
	int error = write_flag(user, bytes, &on);

	if (!error)
		error = control_pause(!on);
	return error ? error : bytes;
}

static const struct file_operations enabled_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = enabled_read,
	.write = enabled_write,
};

/* ---- info, overflow, reset */

static int info_show(struct seq_file *out, void *data)
{
	const struct wire_geometry *geometry = &burin_session.geometry;

	seq_printf(out, "version %u\nmode %s\nclock %s\nbuffer %llu\npacket %u\n", geometry->version,
		   geometry->mode == WIRE_MODE_FLIGHT ? "flight" : "stream",
		   geometry->clock == WIRE_CLOCK_TSC ? "tsc" : "mono",
		   (u64)(u32)burin_session.rings[0].control->size * geometry->packet_bytes,
		   geometry->packet_bytes);
	mutex_lock(&burin_mutex);
	for (u32 n = 0; n < session_event_count(&burin_session); n++) {
		const struct wire_event *event = &burin_session.entries[n];

		seq_printf(out, "event %u %s %s \"", n + 1,
			   wire_is_on(burin_session.switches[n]) ? "on" : "off",
			   session_event_text(&burin_session, event->name));
		seq_escape(out, session_event_text(&burin_session, event->format), "\"\\\n");
		seq_puts(out, "\"\n");
	}
	mutex_unlock(&burin_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(info);

static int overflow_show(struct seq_file *out, void *data)
{
	for (u32 n = 0; n < burin_session.ring_count; n++) {
		const struct wire_ring *ring = burin_session.rings[n].control;

		seq_printf(out, "ring %u full %llu busy %llu size %llu\n", n,
			   READ_ONCE(ring->lost[WIRE_LOST_FULL]), READ_ONCE(ring->lost[WIRE_LOST_BUSY]),
			   READ_ONCE(ring->lost[WIRE_LOST_SIZE]));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(overflow);

static ssize_t reset_write(struct file *file, const char __user *user, size_t bytes, loff_t *at)
{
	int error = bytes ? device_reset() : -EINVAL;

	return error ? error : bytes;
}

static const struct file_operations reset_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = reset_write,
};

/* ---- events/NAME/enable */

static ssize_t event_read(struct file *file, char __user *user, size_t bytes, loff_t *at)
{
	const u32 index = (uintptr_t)file->private_data;

	return read_flag(user, bytes, at, wire_is_on(burin_session.desired[index]));
}

static ssize_t event_write(struct file *file, const char __user *user, size_t bytes, loff_t *at)
{
	const u32 index = (uintptr_t)file->private_data;
	bool on;
	int error = write_flag(user, bytes, &on);

	/* A name is also a glob that matches only itself: it has no special bytes. */
	if (!error)
		error = control_switch(session_event_text(&burin_session, burin_session.entries[index].name),
				       on);
	return error < 0 ? error : bytes;
}

static const struct file_operations event_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = event_read,
	.write = event_write,
};

void debugfs_list(void)
{
	if (IS_ERR_OR_NULL(events))
		return;
	for (; listed < session_event_count(&burin_session); listed++) {
		const char *name = session_event_text(&burin_session, burin_session.entries[listed].name);

		if (!strcmp(name, ".") || !strcmp(name, "..")) /* no folder can have such a name */
			continue;
		debugfs_create_file("enable", 0600, debugfs_create_dir(name, events),
				    (void *)(uintptr_t)listed, &event_operations);
	}
}

/* ---- buffers/cpuN */

/* A reader's copy of one packet. */
struct buffer {
	struct mutex lock; /* of the rest: readers of one descriptor may be several */
	const struct ring *ring;
	struct ring_cursor cursor;
	u8 uuid[16]; /* of the session when the cursor began: a reset gives it another one */
	char *packet;
	u32 at, end; /* bytes of the packet that are still to be read */
};

static int buffer_open(struct inode *inode, struct file *file)
{
	const struct ring *ring = inode->i_private;
	struct buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (!buffer)
		return -ENOMEM;
	mutex_init(&buffer->lock);
	buffer->ring = ring;
	buffer->packet = vmalloc(ring->packet_words * 8);
	if (!buffer->packet) {
		kfree(buffer);
		return -ENOMEM;
	}
	file->private_data = buffer;
	return nonseekable_open(inode, file);
}

static int buffer_release(struct inode *inode, struct file *file)
{
	struct buffer *buffer = file->private_data;

	vfree(buffer->packet);
	kfree(buffer);
	return 0;
}

/* Whole packets, as a stream of the trace has them; the last one up to its last record. */
static int next_packet(struct buffer *buffer)
{
	struct ring_piece piece;
	int found = 0;

	mutex_lock(&burin_mutex); /* the ring keeps its memory */
	if (memcmp(buffer->uuid, burin_session.geometry.uuid, sizeof(buffer->uuid)) != 0) {
		memcpy(buffer->uuid, burin_session.geometry.uuid, sizeof(buffer->uuid));
		buffer->cursor = (struct ring_cursor){ .passive = true };
	}
	if (READ_ONCE(buffer->ring->ready_words))
		found = ring_copy(buffer->ring, &buffer->cursor, buffer->packet, &piece);
	mutex_unlock(&burin_mutex);
	if (found > 0) {
		buffer->at = piece.begin == sizeof(struct wire_packet) ? 0 : piece.begin;
		buffer->end = piece.end;
	}
	return found < 0 ? -EIO : found;
}

static ssize_t buffer_read(struct file *file, char __user *user, size_t bytes, loff_t *at)
{
	struct buffer *buffer = file->private_data;
	ssize_t result = security_locked_down(LOCKDOWN_DEBUGFS); /* since it was opened */

	if (!result && mutex_lock_interruptible(&buffer->lock))
		result = -EINTR;
	if (result)
		return result;
	result = buffer->at == buffer->end ? next_packet(buffer) : 1;
	if (result > 0) {
		bytes = min_t(size_t, bytes, buffer->end - buffer->at);
		result = copy_to_user(user, buffer->packet + buffer->at, bytes) ? -EFAULT : bytes;
	}
	if (result > 0)
		buffer->at += result;
	mutex_unlock(&buffer->lock);
	return result;
}

static const struct file_operations buffer_operations = {
	.owner = THIS_MODULE,
	.open = buffer_open,
	.release = buffer_release,
	.read = buffer_read,
};

/* ---- all of it */

void debugfs_begin(void)
{
	struct dentry *buffers;
	char name[16];

	if (security_locked_down(LOCKDOWN_DEBUGFS)) {
		pr_info("burin: the kernel is locked down, so there is no view in debugfs; /dev/burin has "
			"all of it\n");
		return;
	}
	top = debugfs_create_dir("burin", NULL);
	debugfs_create_file("enabled", 0600, top, NULL, &enabled_operations);
	debugfs_create_file("info", 0400, top, NULL, &info_fops);
	debugfs_create_file("overflow", 0400, top, NULL, &overflow_fops);
	debugfs_create_file("reset", 0200, top, NULL, &reset_operations);
	buffers = debugfs_create_dir("buffers", top);
	for (u32 n = 0; n < burin_session.geometry.cpus; n++) {
		snprintf(name, sizeof(name), "cpu%u", n);
		debugfs_create_file(name, 0400, buffers, &burin_session.rings[n], &buffer_operations);
	}
	mutex_lock(&burin_mutex);
	events = debugfs_create_dir("events", top);
	debugfs_list();
	mutex_unlock(&burin_mutex);
}

void debugfs_end(void)
{
	debugfs_remove(top);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* The device /dev/burin. */
#ifndef BURIN_KERNEL_DEVICE_H
#define BURIN_KERNEL_DEVICE_H

/* device_reset - forget all records, unless a reader has claimed the session: -EBUSY. */
int device_reset(void);

int device_begin(void);
void device_end(void);

#endif

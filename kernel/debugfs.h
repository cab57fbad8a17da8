/* SPDX-License-Identifier: GPL-2.0-only */
/* A view in debugfs, if it may be there. */
#ifndef BURIN_KERNEL_DEBUGFS_H
#define BURIN_KERNEL_DEBUGFS_H

void debugfs_begin(void);

/* debugfs_list - show events that were registered since. Context: burin_mutex. */
void debugfs_list(void);
void debugfs_end(void);

#endif

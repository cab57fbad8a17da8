/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rights that this process lacks; see kernel_rights.h. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "source/kernel/kernel_rights.h"

/* CAP_PERFMON and CAP_BPF are younger than some headers. */
static const struct {
	const char *name;
	unsigned number, stronger; /* another one that includes it */
} rights[] = {
	{ "CAP_BPF", 39, CAP_SYS_ADMIN },
	{ "CAP_PERFMON", 38, CAP_SYS_ADMIN },
	{ "CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE },
};

static uint64_t read_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &header, data) != 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

void kernel_rights_explain(char *out, size_t room, const char *what, bool reads)
{
	const uint64_t own = read_rights();
	const bool mounts = reads && !(own >> CAP_SYS_ADMIN & 1) &&
			    access("/sys/kernel/tracing/events", F_OK) != 0 && errno == ENOENT;
	const unsigned count = sizeof(rights) / sizeof(rights[0]) - !reads;
	char missing[64] = "";
	int used = 0;

	for (unsigned n = 0; n < count; n++)
		if (!(own >> rights[n].number & 1) && !(own >> rights[n].stronger & 1))
			used += snprintf(missing + used, sizeof(missing) - (size_t)used, "%s%s",
					 used ? ", " : "", rights[n].name);
	if (used)
		snprintf(out, room, "%s: no permission; run as root, or with %s", what, missing);
	else if (mounts)
		snprintf(out, room,
			 "%s is not mounted; run as root, or mount -t tracefs tracefs /sys/kernel/tracing",
			 what);
	else
		snprintf(out, room,
			 "%s: the kernel does not permit it, also to root; see /sys/kernel/security/lockdown",
			 what);
}

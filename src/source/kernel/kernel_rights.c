/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rights that this process lacks; see kernel_rights.h. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "file/tracefs_open.h"
#include "source/kernel/bpf/kernel_put.h"
#include "source/kernel/kernel_rights.h"

static const char tracefs_name[] = "tracefs";
static const unsigned INITIAL_PIDS = 0xEFFFFFFC; /* inode of the initial PID namespace */

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

void kernel_rights_describe(char *out, size_t room, int error, const char *what)
{
	if (error == -EPERM || error == -EACCES)
		kernel_rights_explain(out, room, what, strcmp(what, tracefs_name) == 0);
	else if (error == -ENOSYS)
		snprintf(out, room, "%.100s: the kernel has no BPF (CONFIG_BPF_SYSCALL)", what);
	else
		snprintf(out, room, "%.100s: %s", what, strerror(-error));
}

static bool is_initial_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == INITIAL_PIDS;
}

int kernel_rights_tracefs(char *why, size_t room)
{
	int events;

	if (!is_initial_namespace()) {
		snprintf(why, room,
			 "this process is in a PID namespace of its own; run it outside the container");
		return -ENOTSUP;
	}
	events = tracefs_open();
	if (events == -ENODEV)
		snprintf(why, room, "the kernel has no tracefs (CONFIG_TRACING), or its lockdown forbids it");
	else if (events < 0)
		kernel_rights_describe(why, room, events, tracefs_name);
	return events;
}

int kernel_rights_programs(void)
{
	struct bpf_program code = { .count = 0 };
	int program;

	kernel_put_result(&code, 1);
	program = bpf_load(BPF_PROG_TYPE_TRACEPOINT, &code);
	if (program < 0)
		return program;
	close(program);
	return 0;
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
// The first process of a machine that runs commands: each line of /commands is one, its words are separated by blanks. Words of the form
// NAME=VALUE before the command are its environment. Before its output a line `== N` is printed, and behind it `== N STATUS`; the last line is
// `== end`. Compiled by tests/harness/guests.py.
#define _GNU_SOURCE
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void prepare(void)
{
	static const char *const mounts[][2] = { { "proc", "/proc" },
						 { "sysfs", "/sys" },
						 { "devtmpfs", "/dev" },
						 { "tmpfs", "/dev/shm" },
						 { "tracefs", "/sys/kernel/tracing" },
						 { "securityfs", "/sys/kernel/security" } };

	mkdir("/tmp", 0755); /* not a mount: the programs may lie below it */
	for (unsigned n = 0; n < sizeof(mounts) / sizeof(mounts[0]); n++) {
		mkdir(mounts[n][1], 0755);
		mount(mounts[n][0], mounts[n][1], mounts[n][0], 0, "");
	}
	ioctl(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), SIOCSIFFLAGS,
	      &(struct ifreq){ .ifr_name = "lo", .ifr_flags = IFF_UP });
}

static int run(char *line)
{
	char *words[64] = { NULL }, *at = strtok(line, " \n");
	int count = 0, status = 0;
	pid_t child;

	for (; at && count < 63; at = strtok(NULL, " \n"))
		words[count++] = at;
	child = fork();
	if (child == 0) {
		char **command = words;

		while (*command && strchr(*command, '='))
			putenv(*command++);
		dup2(1, 2);
		execv(*command, command);
		perror(*command);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

int main(void)
{
	char line[4096];
	FILE *commands;

	prepare();
	commands = fopen("/commands", "re");
	for (int n = 0; commands && fgets(line, sizeof(line), commands); n++) {
		printf("== %d\n", n);
		fflush(stdout);
		printf("\n== %d %d\n", n, run(line));
		fflush(stdout);
	}
	printf("== end\n");
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 1;
}

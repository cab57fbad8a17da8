/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The files of /proc that have figures of the machine; see figures_proc.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "source/counters/figures_proc.h"

enum {
	LINE = 512,
	DISK_NAME = 32, /* bytes of a disk's name, as in the kernel */
};

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" */
static size_t take_pressure(figures_take *take, void *context, const char *resource)
{
	char path[64], line[LINE], who[8], name[FIGURES_NAME];
	size_t taken = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/pressure/%s", resource);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *total = strstr(line, " total=");
		uint64_t us;

		if (!total || sscanf(line, "%7s", who) != 1 || sscanf(total, " total=%" SCNu64, &us) != 1)
			continue;
		snprintf(name, sizeof(name), "pressure.%s.%s", resource, who);
		take(context, name, FIGURE_BUSY_US, us);
		taken++;
	}
	if (file)
		fclose(file);
	return taken;
}

/* Whether it is a disk, and not a part of one. The kernel's directories have '!' in place of a '/'. */
static bool is_whole_disk(const char *disk)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/%s", disk);
	for (char *at = path + sizeof("/sys/block/") - 1; *at; at++)
		*at = (char)(*at == '/' ? '!' : *at);
	return access(path, F_OK) == 0;
}

static void take_disk(figures_take *take, void *context, const char *disk, const uint64_t counts[3])
{
	static const struct {
		const char *what;
		enum figure_unit unit;
	} kinds[3] = { { "read", FIGURE_SECTORS },
		       { "written", FIGURE_SECTORS },
		       { "busy", FIGURE_BUSY_MS } };
	char name[FIGURES_NAME];

	for (unsigned n = 0; n < 3; n++) {
		snprintf(name, sizeof(name), "disk.%s.%s", disk, kinds[n].what);
		take(context, name, kinds[n].unit, counts[n]);
	}
}

/* "8 0 sda READS merged SECTORS ms WRITES merged SECTORS ms now BUSY_MS weighted ..." */
static size_t take_disks(figures_take *take, void *context)
{
	char line[LINE], disk[DISK_NAME];
	FILE *file = fopen("/proc/diskstats", "re");
	size_t taken = 0;
	uint64_t counts[3]; /* sectors read, sectors written, ms busy */

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*u %*u %31s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64 " %*u %*u %" SCNu64,
			   disk, &counts[0], &counts[1], &counts[2]) != 4)
			continue;
		/* A disk that was never used, as most loop devices, is none of interest until it is. */
		if ((counts[0] || counts[1]) && is_whole_disk(disk)) {
			take_disk(take, context, disk, counts);
			taken++;
		}
	}
	if (file)
		fclose(file);
	return taken;
}

size_t figures_proc_read(figures_take *take, void *context)
{
	static const char *const resources[] = { "cpu", "io", "memory", "irq" };
	size_t taken = 0;

	for (unsigned n = 0; n < sizeof(resources) / sizeof(resources[0]); n++)
		taken += take_pressure(take, context, resources[n]);
	return taken + take_disks(take, context);
}

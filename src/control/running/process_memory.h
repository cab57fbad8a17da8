/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The memory of another process: its mappings, bytes, and the symbols of its loaded objects.
 *
 * The process decides what is there, so nothing of it is trusted: all reads are bounded, and writes go only to the process.
 */
#ifndef BURIN_CONTROL_RUNNING_PROCESS_MEMORY_H
#define BURIN_CONTROL_RUNNING_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_map {
	uint64_t begin, end, offset, inode;
	bool readable, writable, executable, private;
	char *path; /* "" for none */
};

/* The kernel gives each program that is executed random bytes, and the address of these. */
struct process_random {
	uint64_t address; /* 0: unknown */
	uint64_t words[2];
};

struct process_memory {
	pid_t pid;
	int file; /* /proc/PID/mem: stays that of the program, also if the process executes another one */
	struct process_random random;
	struct process_map *maps;
	size_t count, room;
};

/* process_memory_open - open the memory, and read the mappings. Return: 0; -EDEADLK: its user keeps readers waiting; or a negative errno. */
int process_memory_open(struct process_memory *memory, pid_t pid);
void process_memory_close(struct process_memory *memory);

/* process_memory_maps - read the mappings again. Return: 0 or a negative errno. */
int process_memory_maps(struct process_memory *memory);

/* process_memory_read, process_memory_write - copy bytes; page protections do not matter. Return: whether all were copied. */
bool process_memory_read(const struct process_memory *memory, uint64_t address, void *out, size_t bytes);
bool process_memory_write(const struct process_memory *memory, uint64_t address, const void *from,
			  size_t bytes);

/*
 * process_memory_is_of - whether the memory is that of a thread which this process has stopped. If not, it has executed another
 * program, perhaps one with more rights than its user has (set-user-id): its registers must be left alone.
 */
bool process_memory_is_of(const struct process_memory *memory, pid_t tid);

/* process_memory_at - the mapping that has an address; NULL: none. */
const struct process_map *process_memory_at(const struct process_memory *memory, uint64_t address);

/* process_memory_is_code - whether bytes are code from a file: private to the process, and not written by it. */
bool process_memory_is_code(const struct process_memory *memory, uint64_t address, size_t bytes);

/*
 * process_memory_object - where a loaded object begins.
 * @name: the last part of its path, or a longer text that begins with it and "." or "-": "libc" finds libc.so.6 and libc-2.31.so
 * Return: 0: there is none.
 */
uint64_t process_memory_object(const struct process_memory *memory, const char *name);

/* process_memory_symbol - the address of a dynamic symbol that an object defines; 0: it defines none. @begin: of the object */
uint64_t process_memory_symbol(const struct process_memory *memory, uint64_t begin, const char *name);

/* process_memory_auxiliary - a value that the kernel gave the process (AT_BASE and so on); 0: none. */
uint64_t process_memory_auxiliary(const struct process_memory *memory, uint64_t type);

/*
 * process_memory_slack - the unused end of an object's last page of code or data.
 * @kind: PF_X or PF_W
 * Return: an address, and how much room is there; 0 and no room: there is none.
 */
uint64_t process_memory_slack(const struct process_memory *memory, uint64_t begin, uint32_t kind,
			      size_t *room);

#endif

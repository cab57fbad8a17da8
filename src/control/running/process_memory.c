/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The memory of another process; see process_memory.h.
 *
 * /proc/PID/mem reads and writes by address and ignores page protections (proc(5)). A write to a private page
 * gives the process its own copy, so no file changes. The descriptor stays that of the program for which it
 * was opened: after an exec, reads and writes fail.
 *
 * The structures are those of ELF (the gABI; elf(5)): the object's header at its first mapping, program
 * headers, the dynamic section, and the hash table of symbols that GNU linkers write (DT_GNU_HASH). The
 * process may have changed all of these. So each read is bounded (PARTS_MAX, DYNAMIC_MAX, CHAIN_MAX), a
 * failed one ends the search, and a wrong answer harms only the process that gave it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "control/running/process_memory.h"
#include "file/foreign_file.h"

enum {
	MAPS_MAX = 1 << 16,
	PARTS_MAX = 64,	     /* program headers of an object */
	DYNAMIC_MAX = 512,   /* entries of its dynamic section */
	CHAIN_MAX = 1 << 16, /* symbols with one hash */
	AUXILIARY_MAX = 64,
	PAGE = 4096,
};

/* ---- mappings */

static void maps_free(struct process_memory *memory)
{
	for (size_t n = 0; n < memory->count; n++)
		free(memory->maps[n].path);
	free(memory->maps);
	memory->maps = NULL;
	memory->count = memory->room = 0;
}

static int add_map(struct process_memory *memory, char *line)
{
	unsigned long long begin, end, offset, inode;
	char flags[5];
	int path = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %llu %n", &begin, &end, flags, &offset, &inode, &path) <
	    5)
		return 0;
	if (memory->count == MAPS_MAX || !array_reserve(memory->maps, memory->room, memory->count + 1))
		return -ENOMEM;
	line[strcspn(line, "\n")] = 0;
	memory->maps[memory->count] = (struct process_map){ .begin = begin,
							    .end = end,
							    .offset = offset,
							    .inode = inode,
							    .readable = flags[0] == 'r',
							    .writable = flags[1] == 'w',
							    .executable = flags[2] == 'x',
							    .private = flags[3] == 'p',
							    .path = strdup(path ? line + path : "") };
	return memory->maps[memory->count].path ? (memory->count++, 0) : -ENOMEM;
}

int process_memory_maps(struct process_memory *memory)
{
	char *line = NULL;
	size_t room = 0;
	int error = 0, maps;
	FILE *file;

	maps_free(memory);
	maps = foreign_maps((uint32_t)memory->pid);
	if (maps < 0)
		return maps;
	file = fdopen(maps, "r");
	if (!file) {
		close(maps);
		return -ENOMEM;
	}
	while (!error && getline(&line, &room, file) > 0)
		error = add_map(memory, line);
	free(line);
	fclose(file);
	return error ?: memory->count ? 0 : -ESRCH;
}

/* The address of the random bytes. It is read again each time: a program can choose what the kernel says of itself, not of the next. */
static uint64_t random_address(pid_t pid)
{
	return process_memory_auxiliary(&(struct process_memory){ .pid = pid }, AT_RANDOM);
}

static void process_memory_remember(struct process_memory *memory)
{
	struct process_random *random = &memory->random;

	random->address = random_address(memory->pid);
	if (!process_memory_read(memory, random->address, random->words, sizeof(random->words)))
		random->address = 0;
}

/* By the thread's own memory. */
static bool has_word(pid_t tid, uint64_t address, uint64_t word)
{
	errno = 0;
	return (uint64_t)ptrace(PTRACE_PEEKDATA, tid, address, NULL) == word && !errno;
}

bool process_memory_is_of(const struct process_memory *memory, pid_t tid)
{
	const struct process_random *random = &memory->random;

	return random->address && random_address(tid) == random->address &&
	       has_word(tid, random->address, random->words[0]) &&
	       has_word(tid, random->address + sizeof(uint64_t), random->words[1]);
}

/*
 * Whether readers of the memory need not wait, as far as can be known before: its user may hold the lock from the next moment on. "maps"
 * needs no lock since Linux 6.17, but "cmdline", which is memory, too. Return: 0 or a negative errno.
 */
static int ask_for_lock(pid_t pid)
{
	const int file = foreign_contents((uint32_t)pid, "cmdline", 1);

	if (file >= 0)
		close(file);
	return file == -ETIMEDOUT ? file : 0;
}

int process_memory_open(struct process_memory *memory, pid_t pid)
{
	char path[48];
	int error;

	*memory = (struct process_memory){ .pid = pid, .file = -1 };
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	memory->file = open(path, O_RDWR | O_CLOEXEC);
	error = memory->file < 0 ? -errno : ask_for_lock(pid) ?: process_memory_maps(memory);
	if (error)
		process_memory_close(memory);
	else
		process_memory_remember(memory);
	return error == -ETIMEDOUT ? -EDEADLK : error;
}

void process_memory_close(struct process_memory *memory)
{
	maps_free(memory);
	if (memory->file >= 0)
		close(memory->file);
	memory->file = -1;
}

bool process_memory_read(const struct process_memory *memory, uint64_t address, void *out, size_t bytes)
{
	return pread(memory->file, out, bytes, (off_t)address) == (ssize_t)bytes;
}

bool process_memory_write(const struct process_memory *memory, uint64_t address, const void *from,
			  size_t bytes)
{
	return pwrite(memory->file, from, bytes, (off_t)address) == (ssize_t)bytes;
}

const struct process_map *process_memory_at(const struct process_memory *memory, uint64_t address)
{
	for (size_t n = 0; n < memory->count; n++)
		if (address - memory->maps[n].begin < memory->maps[n].end - memory->maps[n].begin)
			return &memory->maps[n];
	return NULL;
}

bool process_memory_is_code(const struct process_memory *memory, uint64_t address, size_t bytes)
{
	const struct process_map *map = process_memory_at(memory, address);

	return map && map->executable && !map->writable && map->private && map->inode &&
	       bytes <= map->end - address;
}

static bool process_memory_has_name(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	const size_t bytes = strlen(name);

	return strncmp(last, name, bytes) == 0 &&
	       (!last[bytes] || last[bytes] == '.' || (last[bytes] == '-' && last[bytes + 1] <= '9'));
}

uint64_t process_memory_object(const struct process_memory *memory, const char *name)
{
	for (size_t n = 0; n < memory->count; n++)
		if (!memory->maps[n].offset && memory->maps[n].inode &&
		    process_memory_has_name(memory->maps[n].path, name))
			return memory->maps[n].begin;
	return 0;
}

/* ---- objects */

struct parts {
	Elf64_Phdr part[PARTS_MAX];
	unsigned count;
	uint64_t bias; /* to be added to the object's own addresses */
};

static bool parts_read(const struct process_memory *memory, uint64_t begin, struct parts *parts)
{
	Elf64_Ehdr header;

	if (!process_memory_read(memory, begin, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > PARTS_MAX ||
	    !process_memory_read(memory, begin + header.e_phoff, parts->part,
				 header.e_phnum * sizeof(Elf64_Phdr)))
		return false;
	parts->count = header.e_phnum;
	parts->bias = begin;
	for (unsigned n = 0; n < parts->count; n++)
		if (parts->part[n].p_type == PT_LOAD && !parts->part[n].p_offset)
			parts->bias = begin - (parts->part[n].p_vaddr & ~(uint64_t)(PAGE - 1));
	return true;
}

struct symbols {
	uint64_t hash, table, names;
};

/* The C library relocates these addresses in place, in most objects. */
static uint64_t process_memory_relocated(const struct parts *parts, uint64_t address)
{
	return address && address < parts->bias ? address + parts->bias : address;
}

static bool symbols_read(const struct process_memory *memory, const struct parts *parts,
			 struct symbols *symbols)
{
	Elf64_Dyn entry = { .d_tag = DT_NULL };
	uint64_t at = 0;

	*symbols = (struct symbols){ 0 };
	for (unsigned n = 0; n < parts->count; n++)
		if (parts->part[n].p_type == PT_DYNAMIC)
			at = parts->bias + parts->part[n].p_vaddr;
	for (unsigned n = 0; at && n < DYNAMIC_MAX; n++, at += sizeof(entry)) {
		if (!process_memory_read(memory, at, &entry, sizeof(entry)) || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_GNU_HASH)
			symbols->hash = process_memory_relocated(parts, entry.d_un.d_ptr);
		if (entry.d_tag == DT_SYMTAB)
			symbols->table = process_memory_relocated(parts, entry.d_un.d_ptr);
		if (entry.d_tag == DT_STRTAB)
			symbols->names = process_memory_relocated(parts, entry.d_un.d_ptr);
	}
	return symbols->hash && symbols->table && symbols->names;
}

static bool process_memory_is_called(const struct process_memory *memory, uint64_t address, const char *name)
{
	char found[64] = { 0 };
	const size_t bytes = strlen(name) + 1;

	return bytes <= sizeof(found) && process_memory_read(memory, address, found, bytes) &&
	       memcmp(found, name, bytes) == 0;
}

/* The first symbol of a hash's bucket, and where its chain begins. */
static bool bucket_read(const struct process_memory *memory, const struct symbols *symbols, uint32_t hash,
			uint32_t *first, uint64_t *chain)
{
	uint32_t head[4]; /* buckets, number of the first symbol, words of a filter, its shift */
	uint64_t buckets;

	if (!process_memory_read(memory, symbols->hash, head, sizeof(head)) || !head[0])
		return false;
	/*
	 * Behind the head: the words of a Bloom filter, the buckets, the chains of all symbols from the first
	 * one on.
	 */
	buckets = symbols->hash + sizeof(head) + 8 * (uint64_t)head[2];
	if (!process_memory_read(memory, buckets + 4 * (uint64_t)(hash % head[0]), first, sizeof(*first)) ||
	    *first < head[1])
		return false;
	*chain = buckets + 4 * (uint64_t)head[0] + 4 * (uint64_t)(*first - head[1]);
	return true;
}

uint64_t process_memory_symbol(const struct process_memory *memory, uint64_t begin, const char *name)
{
	struct parts parts;
	struct symbols symbols;
	uint32_t hash = 5381, number, value = 0;
	uint64_t chain;

	/* The hash of DT_GNU_HASH. The lowest bit of a chain's value marks its end instead. */
	for (const char *at = name; *at; at++)
		hash = hash * 33 + (uint8_t)*at;
	if (!begin || !parts_read(memory, begin, &parts) || !symbols_read(memory, &parts, &symbols) ||
	    !bucket_read(memory, &symbols, hash, &number, &chain))
		return 0;
	for (unsigned n = 0; n < CHAIN_MAX && !(value & 1); n++, number++, chain += sizeof(value)) {
		Elf64_Sym symbol;

		if (!process_memory_read(memory, chain, &value, sizeof(value)))
			return 0;
		if ((value | 1) == (hash | 1) &&
		    process_memory_read(memory, symbols.table + number * sizeof(symbol), &symbol,
					sizeof(symbol)) &&
		    symbol.st_shndx != SHN_UNDEF &&
		    process_memory_is_called(memory, symbols.names + symbol.st_name, name))
			return parts.bias + symbol.st_value;
	}
	return 0;
}

uint64_t process_memory_auxiliary(const struct process_memory *memory, uint64_t type)
{
	uint64_t pairs[AUXILIARY_MAX][2] = { 0 }, value = 0;
	char path[48];
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)memory->pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	got = file < 0 ? 0 : read(file, pairs, sizeof(pairs));
	if (file >= 0)
		close(file);
	for (ssize_t n = 0; n < got / (ssize_t)sizeof(*pairs); n++)
		if (pairs[n][0] == type)
			value = pairs[n][1];
	return value;
}

uint64_t process_memory_slack(const struct process_memory *memory, uint64_t begin, uint32_t kind,
			      size_t *room)
{
	struct parts parts;

	*room = 0;
	if (!begin || !parts_read(memory, begin, &parts))
		return 0;
	for (unsigned n = 0; n < parts.count; n++) {
		const Elf64_Phdr *part = &parts.part[n];
		/*
		 * Behind the part's last byte, aligned: the rest of that page belongs to the mapping and is
		 * not used.
		 */
		const uint64_t end = (parts.bias + part->p_vaddr + part->p_memsz + 15) & ~(uint64_t)15;
		const struct process_map *map = process_memory_at(memory, end);

		if (part->p_type != PT_LOAD || !(part->p_flags & kind) || !map || end % PAGE == 0 ||
		    !(kind == PF_X ? map->executable && part->p_filesz == part->p_memsz : map->writable))
			continue;
		*room = PAGE - end % PAGE;
		return end;
	}
	return 0;
}

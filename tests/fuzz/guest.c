/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files about a guest: the kernel's functions (ELF, kallsyms) and its types (BTF), which may be those of a hostile guest, and packed. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "image/elf/kernel_file.h"
#include "image/names/kernel/guest_names.h"
#include "image/names/kernel/guest_tasks.h"

enum {
	ADDRESSES = 32,
};

/* Names are inside the text, and in order. */
static void look(const struct guest_names *names)
{
	unsigned sum = 0;

	for (size_t n = 0; n < names->count; n++) {
		FUZZ_HOLDS(names->all[n].name < names->bytes);
		FUZZ_HOLDS(!n || names->all[n].address >= names->all[n - 1].address);
		sum += (unsigned)strlen(names->text + names->all[n].name);
	}
	fuzz_use(sum);
}

/* Addresses of functions, at several distances. */
static void move(const struct guest_names *names)
{
	struct guest_shifts shifts = { 0 };
	struct guest_names known = { 0 };
	struct guest_agreement agreement;
	uint64_t addresses[ADDRESSES];
	int map;

	for (size_t n = 0; n < ADDRESSES; n++)
		addresses[n] = names->all[n % names->count].address + (n / 8 << 21);
	FUZZ_HOLDS(guest_names_shifts(names, addresses, ADDRESSES, &shifts) == 0);
	FUZZ_HOLDS(shifts.count >= 1 && shifts.count <= GUEST_SHIFTS);
	FUZZ_HOLDS(guest_names_add(&known, addresses[0], 1, names->text + names->all[0].name) == 0);
	FUZZ_HOLDS(guest_names_add(&known, UINT64_MAX, 1, "last") == 0);
	agreement = guest_names_agree(names, &shifts, &known, addresses, ADDRESSES);
	FUZZ_HOLDS(agreement.contradicted <= agreement.known && agreement.contradicted <= agreement.begun);
	map = guest_names_map(names, &shifts, &known, addresses, ADDRESSES);
	FUZZ_HOLDS(map >= 0);
	close(map);
	guest_names_free(&known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int given = memfd_create("guest", MFD_CLOEXEC);
	struct guest_names names;
	struct guest_tasks tasks = { 0 };
	int unpacked, file;

	FUZZ_HOLDS(given >= 0 && write(given, data, size) == (ssize_t)size);
	unpacked = kernel_file_unpack(given);
	file = unpacked < 0 ? given : unpacked;
	if (guest_names_read(&names, file) == 0) {
		look(&names);
		move(&names);
		guest_names_free(&names);
	}
	if (guest_tasks_read(&tasks, file) == 0)
		fuzz_use(
			(unsigned)(tasks.current + tasks.stack + tasks.pid + tasks.name + tasks.stack_bytes));
	close(given);
	if (unpacked >= 0)
		close(unpacked);
	return 0;
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The file of a kernel; see kernel_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "image/elf/kernel_file.h"
#include "image/elf/unpack.h"

/* Places in the header of x86 (Documentation/arch/x86/boot.rst in the kernel's sources). */
enum {
	SECTOR = 512,
	SETUP_SECTORS = 0x1f1, /* of code behind the first one */
	SETUP_SECTORS_DEFAULT = 4,
	HEADER_MAGIC = 0x202,
	PROTOCOL = 0x206,
	PROTOCOL_WITH_PAYLOAD = 0x208,
	PAYLOAD_OFFSET = 0x248, /* behind the code */
	PAYLOAD_BYTES = 0x24c,
	HEADER_BYTES = 0x250,
};

/* And in that of a loader for EFI, on other architectures. */
enum {
	EFI_MAGIC = 4,
	EFI_OFFSET = 8,
	EFI_BYTES = 12,
};

/* Where a kernel's header says that it is packed. Return: false: it is no kernel. @end: 0: it does not say where */
static bool find_payload(const char head[HEADER_BYTES], uint64_t *at, uint64_t *end)
{
	*at = *end = 0;
	if (memcmp(head + HEADER_MAGIC, "HdrS", 4) == 0) {
		const unsigned sectors = (unsigned char)head[SETUP_SECTORS] ?: SETUP_SECTORS_DEFAULT;

		if (number_load16(head + PROTOCOL) < PROTOCOL_WITH_PAYLOAD)
			return true;
		*at = (uint64_t)(1 + sectors) * SECTOR + number_load32(head + PAYLOAD_OFFSET);
		*end = *at + number_load32(head + PAYLOAD_BYTES);
		return true;
	}
	if (memcmp(head + EFI_MAGIC, "zimg", 4) != 0)
		return false;
	*at = number_load32(head + EFI_OFFSET);
	*end = *at + number_load32(head + EFI_BYTES);
	return true;
}

int kernel_file_unpack(int file)
{
	char head[HEADER_BYTES] = "";
	struct stat status;
	uint64_t at, end, size;
	int unpacked;

	if (fstat(file, &status) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode)) /* what is read from elsewhere, such as /proc, is not packed */
		return -ENOEXEC;
	size = (uint64_t)status.st_size;
	if (pread(file, head, sizeof(head), 0) < 0)
		return -errno;
	if (!find_payload(head, &at, &end))
		return unpack_range(file, 0, size);
	if (end > size)
		return -EBADMSG;
	unpacked = unpack_range(file, at, end);
	return unpacked == -ENOEXEC ? -EMEDIUMTYPE : unpacked;
}

int kernel_file_open(const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int unpacked;

	if (file < 0)
		return -errno;
	unpacked = kernel_file_unpack(file);
	if (unpacked == -ENOEXEC)
		return file;
	close(file);
	return unpacked;
}

#define OTHER_FILES "give its System.map, its vmlinux with symbols, or the guest's /proc/kallsyms"

const char *kernel_file_problem(int error)
{
	switch (error) {
	case -EMEDIUMTYPE:
		return "it is a kernel as it is booted, of an architecture or a compression that Burin does "
		       "not read; " OTHER_FILES;
	case -EUCLEAN:
		return "its own table of functions (kallsyms) is damaged, or of a version that Burin does "
		       "not read; " OTHER_FILES;
	case -ELIBACC:
		return "it is compressed by lz4, and liblz4.so.1 is not installed (Debian: liblz4-1)";
	case -EBADMSG:
		return "it is compressed, and damaged or cut short";
	case -EFBIG:
		return "it is too large";
	default:
		return strerror(-error);
	}
}

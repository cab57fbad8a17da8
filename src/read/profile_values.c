/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The lines of `.burin/profile`: how the samples came about. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/profile.h"

static const char profile_file[] = ".burin/profile";

enum {
	PROFILE_BYTES = 1 << 20,
};

int read_profile_values_load(struct burin_profile *profile)
{
	char *data;
	size_t bytes = 0;
	int result = read_directory_load(profile->trace, profile_file, PROFILE_BYTES, &data, &bytes);

	if (result == -ENOMEM)
		return result;
	if (result) {
		if (result != -ENOENT)
			read_fault_file(profile->trace, BURIN_FAULT_TABLE, profile_file, result);
		return 0;
	}
	profile->told = true;
	if (strlen(data) != bytes && profile->trace->strict)
		read_fault(profile->trace, BURIN_FAULT_TABLE, profile_file, strlen(data),
			   "a NUL byte in the text");
	for (char *at = data; *at && !result;) {
		char *end = strchrnul(at, '\n'), *next = *end ? end + 1 : end, *equals;

		*end = '\0';
		equals = strchr(at, '=');
		if (equals && equals != at) {
			*equals = '\0';
			result = read_recording_add(&profile->values, at, equals + 1);
		} else {
			read_fault(profile->trace, BURIN_FAULT_TABLE, profile_file, (uint64_t)(at - data),
				   "a line that is no key=value");
		}
		at = next;
	}
	free(data);
	return result;
}

const char *burin_profile_value(const struct burin_profile *profile, const char *key)
{
	for (unsigned n = 0; n < profile->values.count; n++) {
		if (!strcmp(profile->values.lines[n].key, key))
			return profile->values.lines[n].value;
	}
	return NULL;
}

uint64_t burin_profile_number(const struct burin_profile *profile, const char *key)
{
	const char *text = burin_profile_value(profile, key);
	uint64_t value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || *end ? 0 : value;
}

int burin_profile_value_at(const struct burin_profile *profile, unsigned n, const char **key,
			   const char **value)
{
	if (n >= profile->values.count)
		return -ENOENT;
	*key = profile->values.lines[n].key;
	*value = profile->values.lines[n].value;
	return 0;
}

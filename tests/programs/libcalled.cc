/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Exceptions that pass through calls of library functions. Output: the number that were caught. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

static int compare(const void *one, const void *other)
{
	if (*static_cast<const int *>(one) == 3 || *static_cast<const int *>(other) == 3)
		throw std::runtime_error("three");
	return *static_cast<const int *>(one) - *static_cast<const int *>(other);
}

int main()
{
	int caught = 0;

	for (int n = 0; n < 50; n++) {
		int numbers[] = { 5, 4, 3, 2, 1 };
		std::vector<std::string> words{ "c", "b", "a" };

		try {
			qsort(numbers, 5, sizeof(*numbers), compare);
		} catch (const std::exception &) {
			caught++;
		}
		try {
			std::sort(words.begin(), words.end(),
				  [](const std::string &one, const std::string &other) {
					  if (std::stoi("x" + one) == 0)
						  return false;
					  return one < other;
				  });
		} catch (const std::invalid_argument &) {
			caught++;
		}
	}
	std::printf("%d\n", caught);
	return 0;
}

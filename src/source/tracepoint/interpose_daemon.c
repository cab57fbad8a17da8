/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * daemon(), which takes the place of the C library's: that one leaves by an _exit() of its own, so that the session would look like
 * that of a killed program. It stands alone, since programs that link libburin.a may have a function of this name.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The standard streams of a daemon. Return: -1 and errno, as daemon(3). */
static int redirect_to_null(void)
{
	struct stat status;
	int file = open("/dev/null", O_RDWR), result = file < 0 ? -1 : fstat(file, &status);

	if (!result && (!S_ISCHR(status.st_mode) || status.st_rdev != makedev(1, 3))) {
		errno = ENODEV;
		result = -1;
	}
	for (int stream = 0; !result && stream <= STDERR_FILENO; stream++)
		dup2(file, stream);
	if (file > STDERR_FILENO)
		close(file);
	return result;
}

__attribute__((visibility("default"))) int daemon(int nochdir, int noclose)
{
	const pid_t child = fork();

	if (child > 0)
		_exit(0);
	if (child < 0 || setsid() < 0)
		return -1;
	if (!nochdir)
		(void)!chdir("/"); /* if it cannot, it goes on where it is, as with the C library's */
	return noclose ? 0 : redirect_to_null();
}

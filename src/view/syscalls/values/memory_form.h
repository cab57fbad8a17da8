/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The forms of what arguments of system calls point to. */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_MEMORY_FORM_H
#define BURIN_VIEW_SYSCALLS_VALUES_MEMORY_FORM_H

enum memory_form {
	MEMORY_NONE,
	MEMORY_SOCKET,
	MEMORY_SOCKET_RETURNED, /* and its length, which the next argument points to */
	MEMORY_MESSAGE,		/* a struct msghdr, for message_text() */
	MEMORY_STAT,
	MEMORY_ACTION,
	MEMORY_SIGNALS,
	MEMORY_STATUS, /* of a process that has ended */
	MEMORY_LIMIT,
	MEMORY_LIMIT64,
	MEMORY_FILES, /* two descriptors */
	MEMORY_INTEGER,
	MEMORY_CPUS,
	MEMORY_NAMES, /* struct utsname */
	MEMORY_CHARACTERS,
	MEMORY_TEXT,
	MEMORY_COMMAND,		/* of an ioctl: memory_command_form() */
	MEMORY_LOCK_COMMAND,	/* of an fcntl that sets a lock, else none */
	MEMORY_LOCK_RETURNED,	/* of one that reads a lock */
	MEMORY_NAME_COMMAND,	/* of a prctl that names its thread, else none */
	MEMORY_NAME_RETURNED,	/* of one that reads the name */
	MEMORY_OPTION,		/* of a socket: memory_option_form() */
	MEMORY_OPTION_RETURNED, /* and its length, which the next argument points to */
	MEMORY_VALUE,		/* a number of 4 bytes, or bytes */
	MEMORY_ERROR,		/* an error's number, or 0 */
	MEMORY_OCTETS,		/* bytes */
	MEMORY_NAME,		/* of a thread */
	MEMORY_SENT,		/* bytes, as many as the next argument says */
	MEMORY_POLL,
	MEMORY_POLL_RETURNED, /* behind the result */
	MEMORY_SET,	      /* of descriptors, as many bits as the first argument says */
	MEMORY_SET_IN,	      /* what select returns, behind the result */
	MEMORY_SET_OUT,
	MEMORY_SET_EXCEPT,
	MEMORY_LEFT, /* of struct timespec, behind the result */
	MEMORY_LEFT_MICRO,
	MEMORY_EPOLL, /* struct epoll_event, which is packed on x86-64 only */
	MEMORY_EPOLL_RETURNED,
	MEMORY_VECTOR,	   /* struct iovec, as many as the next argument says */
	MEMORY_FILE_TIMES, /* two of struct timespec */
	MEMORY_STATX,	   /* from here on, structure_text() has them */
	MEMORY_STATFS,
	MEMORY_SYSINFO,
	MEMORY_TIME, /* struct timespec */
	MEMORY_TIMEVAL,
	MEMORY_USAGE,
	MEMORY_LINGER,	    /* struct linger */
	MEMORY_CREDENTIALS, /* struct ucred */
	MEMORY_INTERVAL,
	MEMORY_TIMER, /* struct itimerspec */
	MEMORY_STACK,
	MEMORY_CLONE,
	MEMORY_TERMINAL, /* struct termios */
	MEMORY_WINDOW,	 /* struct winsize */
	MEMORY_LOCK,	 /* struct flock, without and with the process that has it */
	MEMORY_LOCK_OF,
	MEMORY_FORMS,
};

#endif

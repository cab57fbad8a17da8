/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Giving up rights; see confine.h. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "image/symbolize/confine.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

enum {
	RULES_MAX = 96,
	DESCRIPTORS_MORE = 8, /* that `open` may return at a time */
	DESCRIPTORS_DOWNLOAD = 256,
	CAPABILITIES_MAX = 64,
	OTHER_CALLS = 0x40000000, /* from here on x32's numbers, which a list of refused calls would miss */
};

/* ---- user, groups, capabilities */

static void drop_user(void)
{
	if (geteuid() && getuid())
		return;
	/* The order matters: each needs rights that the next one gives up. It fails in a namespace without another user. */
	if (setgroups(0, NULL) == 0 && setresgid(CONFINE_USER, CONFINE_USER, CONFINE_USER) == 0 &&
	    setresuid(CONFINE_USER, CONFINE_USER, CONFINE_USER) == 0)
		return;
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { { 0 } };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	syscall(SYS_capset, &header, none);
}

/* Drops capabilities that exec could bring back. This comes before drop_user(), which drops the right to do so. */
static void drop_bounds(void)
{
	for (unsigned n = 0; n < CAPABILITIES_MAX && prctl(PR_CAPBSET_DROP, n, 0, 0, 0) == 0;)
		n++;
}

/* ---- limits and descriptors */

static void confine_limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)what, &now) == 0 && now.rlim_max < most)
		most = now.rlim_max;
	setrlimit((__rlimit_resource_t)what, &(struct rlimit){ most, most });
}

/* Bytes of address space in use. */
static uint64_t confine_mapped(void)
{
	FILE *in = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (in && fscanf(in, "%lu", &pages) != 1)
		pages = 0;
	if (in)
		fclose(in);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void set_limits(const struct confine *to)
{
	const uint64_t now = to->memory && !to->execute ? confine_mapped() : 0;
	const int highest = to->keep_count ? to->keep[to->keep_count - 1] : STDERR_FILENO;

	if (to->memory && !SANITIZED)
		confine_limit(RLIMIT_AS, now + to->memory);
	if (to->seconds)
		confine_limit(RLIMIT_CPU, to->seconds);
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_FSIZE, to->file_bytes);
	if (!to->download) /* names of hosts are looked up by a thread */
		confine_limit(RLIMIT_NPROC, 0);
	confine_limit(RLIMIT_NOFILE, (rlim_t)(highest < STDERR_FILENO ? STDERR_FILENO : highest) + 1 +
					     (to->download		? DESCRIPTORS_DOWNLOAD
					      : to->execute || to->open ? DESCRIPTORS_MORE
									: 0));
}

static void close_between(int first, int last)
{
	struct rlimit most = { 1024, 1024 };

	if (first > last || close_range((unsigned)first, (unsigned)last, 0) == 0)
		return;
	getrlimit(RLIMIT_NOFILE, &most);
	for (int n = first; n <= last && (rlim_t)n < most.rlim_cur; n++)
		close(n);
}

static void drop_descriptors(const struct confine *to)
{
	const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	int first = STDERR_FILENO + 1;

	for (int n = 0; n < first; n++) {
		bool kept = SANITIZED && n == STDERR_FILENO;

		for (unsigned k = 0; k < to->keep_count; k++)
			kept |= to->keep[k] == n;
		if (!kept && nowhere >= 0)
			dup2(nowhere, n);
		else if (!kept)
			close(n);
	}
	for (unsigned k = 0; k < to->keep_count; k++) {
		close_between(first, to->keep[k] - 1);
		first = to->keep[k] >= first ? to->keep[k] + 1 : first;
	}
	close_between(first, INT32_MAX);
}

/* ---- system calls */

#ifdef ARCHITECTURE

enum {
	WHEN_READING = 1,
	WHEN_EXECUTING = 2,
	ALWAYS = WHEN_READING | WHEN_EXECUTING,
};

/* A permitted call. With a mask, only if the masked bits of an argument are these. */
struct rule {
	uint16_t number;
	uint8_t when, argument;
	uint32_t mask, bits;
};

static const struct rule rules[] = {
	{ SYS_read, ALWAYS, 0, 0, 0 },
	{ SYS_pread64, ALWAYS, 0, 0, 0 },
	{ SYS_write, ALWAYS, 0, 0, 0 },
	{ SYS_close, ALWAYS, 0, 0, 0 },
	{ SYS_lseek, ALWAYS, 0, 0, 0 },
	{ SYS_fstat, ALWAYS, 0, 0, 0 },
	{ SYS_newfstatat, WHEN_READING, 3, 0x1000, 0x1000 }, /* AT_EMPTY_PATH: only of a descriptor */
	{ SYS_newfstatat, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_brk, ALWAYS, 0, 0, 0 },
	{ SYS_mmap, WHEN_READING, 2, PROT_EXEC, 0 },
	{ SYS_mmap, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_mprotect, WHEN_READING, 2, PROT_EXEC, 0 },
	{ SYS_mprotect, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_munmap, ALWAYS, 0, 0, 0 },
	{ SYS_mremap, ALWAYS, 0, 0, 0 },
	{ SYS_madvise, ALWAYS, 0, 0, 0 },
	{ SYS_sysinfo, ALWAYS, 0, 0, 0 }, /* for qsort(3) */
	{ SYS_getrandom, ALWAYS, 0, 0, 0 },
	{ SYS_clock_gettime, ALWAYS, 0, 0, 0 },
	{ SYS_futex, ALWAYS, 0, 0, 0 },
	{ SYS_rt_sigreturn, ALWAYS, 0, 0, 0 },
	{ SYS_rt_sigaction, ALWAYS, 0, 0, 0 }, /* this one and the next: for abort(3) */
	{ SYS_rt_sigprocmask, ALWAYS, 0, 0, 0 },
	{ SYS_getpid, ALWAYS, 0, 0, 0 },
	{ SYS_gettid, ALWAYS, 0, 0, 0 },
	{ SYS_restart_syscall, ALWAYS, 0, 0, 0 },
	{ SYS_exit, ALWAYS, 0, 0, 0 },
	{ SYS_exit_group, ALWAYS, 0, 0, 0 },
	/* The start of a program, which is loaded and reads files. */
	{ SYS_execve, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_openat, WHEN_EXECUTING, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0 },
	{ SYS_set_tid_address, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_set_robust_list, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_prlimit64, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_readlinkat, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_faccessat, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_fcntl, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_readv, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_writev, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_getcwd, WHEN_EXECUTING, 0, 0, 0 },
#ifdef SYS_rseq
	{ SYS_rseq, WHEN_EXECUTING, 0, 0, 0 },
#endif
#ifdef SYS_arch_prctl
	{ SYS_arch_prctl, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_access, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_readlink, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_stat, WHEN_EXECUTING, 0, 0, 0 },
	{ SYS_lstat, WHEN_EXECUTING, 0, 0, 0 },
#endif
};

/* Libraries try these calls but work without them. So they fail, and do not end the process. */
static const uint16_t refused[] = {
	SYS_openat,   SYS_newfstatat, SYS_readlinkat, SYS_faccessat, SYS_statx,	   SYS_getcwd,
	SYS_fcntl,    SYS_ioctl,      SYS_prlimit64,  SYS_mmap,	     SYS_mprotect,
#ifdef SYS_arch_prctl
	SYS_readlink, SYS_access,     SYS_stat,	      SYS_lstat,
#endif
};

/* A process that downloads must not leave another process behind, execute, or reach into others. */
static const uint16_t refused_download[] = {
	SYS_clone,
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kill,
	SYS_tkill,
	SYS_unshare,
	SYS_setns,
	SYS_mount,
	SYS_pidfd_send_signal,
	SYS_keyctl,
	SYS_bpf,
	SYS_io_uring_setup,
	SYS_userfaultfd,
	SYS_perf_event_open,
#ifdef SYS_fork
	SYS_fork,
	SYS_vfork,
#endif
};

static const struct rule thread = { SYS_clone, ALWAYS, 0, CLONE_THREAD, CLONE_THREAD };

struct filter {
	struct sock_filter code[RULES_MAX * 5];
	unsigned short count;
};

static void confine_put(struct filter *filter, uint16_t what, uint32_t value, uint8_t yes, uint8_t no)
{
	filter->code[filter->count++] = (struct sock_filter)BPF_JUMP(what, value, yes, no);
}

static void put_load(struct filter *filter, size_t offset)
{
	confine_put(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void put_rule(struct filter *filter, const struct rule *rule)
{
	const size_t argument = offsetof(struct seccomp_data, args) + rule->argument * sizeof(uint64_t);

	if (rule->mask) { /* only the lower half of an argument is loaded; both architectures are little-endian */
		confine_put(filter, BPF_JMP | BPF_JEQ | BPF_K, rule->number, 0, 5);
		put_load(filter, argument);
		confine_put(filter, BPF_ALU | BPF_AND | BPF_K, rule->mask, 0, 0);
		confine_put(filter, BPF_JMP | BPF_JEQ | BPF_K, rule->bits, 0, 1);
		confine_put(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
		put_load(filter, offsetof(struct seccomp_data, nr));
		return;
	}
	confine_put(filter, BPF_JMP | BPF_JEQ | BPF_K, rule->number, 0, 1);
	confine_put(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static void put_refusal(struct filter *filter, unsigned number, uint32_t how)
{
	confine_put(filter, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
	confine_put(filter, BPF_RET | BPF_K, how, 0, 0);
}

static int refuse_calls(struct filter *filter, struct sock_fprog *program)
{
	confine_put(filter, BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS, 0, 1);
	confine_put(filter, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	put_rule(filter, &thread);
	put_refusal(filter, SYS_clone3,
		    SECCOMP_RET_ERRNO | ENOSYS); /* its flags are in memory; clone() follows */
	for (size_t n = 0; n < sizeof(refused_download) / sizeof(refused_download[0]); n++)
		put_refusal(filter, refused_download[n], SECCOMP_RET_ERRNO | EACCES);
	confine_put(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	program->len = filter->count;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) == 0 ? 0 : -errno;
}

/* A foreign program is not ended by a forbidden call: the call fails, since another version may work without it. */
static int filter_calls(const struct confine *to)
{
	const uint32_t fails = SECCOMP_RET_ERRNO | EACCES;
	const struct rule asks = { SYS_recvmsg, WHEN_READING, 0, UINT32_MAX, (uint32_t)to->asks };
	const struct rule dies = { SYS_tgkill, ALWAYS, 0, UINT32_MAX, (uint32_t)getpid() }; /* abort(3) */
	struct filter filter = { .count = 0 };
	struct sock_fprog program = { .filter = filter.code };

	put_load(&filter, offsetof(struct seccomp_data, arch));
	confine_put(&filter, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	confine_put(&filter, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	put_load(&filter, offsetof(struct seccomp_data, nr));
	if (to->download)
		return refuse_calls(&filter, &program);
	for (size_t n = 0; n < sizeof(rules) / sizeof(rules[0]); n++) {
		if (rules[n].when & (to->execute ? WHEN_EXECUTING : WHEN_READING))
			put_rule(&filter, &rules[n]);
	}
	put_rule(&filter, &dies);
	if (to->open && to->asks >= 0) {
		put_rule(&filter, &asks);
		put_refusal(&filter, SYS_openat, SECCOMP_RET_TRAP);
	}
	for (size_t n = 0; n < sizeof(refused) / sizeof(refused[0]); n++)
		put_refusal(&filter, refused[n], fails);
	confine_put(&filter, BPF_RET | BPF_K, to->execute ? fails : SECCOMP_RET_KILL_PROCESS, 0, 0);
	program.len = filter.count;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : -errno;
}

static int (*open_instead)(const char *path);

/* Replaces a trapped call by `open`. */
static void on_trap(int signal, siginfo_t *info, void *state)
{
	const int kept = errno;
	mcontext_t *at = &((ucontext_t *)state)->uc_mcontext;
#if defined(__x86_64__)
	greg_t *result = &at->gregs[REG_RAX];
	const char *path = (const char *)at->gregs[REG_RSI]; // NOLINT: the second argument
#else
	unsigned long long *result = &at->regs[0];
	const char *path = (const char *)at->regs[1]; // NOLINT: the second argument
#endif

	(void)signal;
	if (info->si_syscall != SYS_openat)
		_exit(1);
	*result = open_instead(path);
	errno = kept;
}

static void trap_calls(const struct confine *to)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };

	open_instead = to->open;
	sigaction(SIGSYS, &action, NULL);
}

#endif

int confine_process(const struct confine *to)
{
	int error = SANITIZED ? 0 : -ENOSYS;

	drop_descriptors(to);
	drop_bounds();
	drop_user();
	drop_capabilities();
	set_limits(to); /* after drop_user(): the limit of processes counts per user */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after drop_user(), which clears it */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		error = -errno;
#ifdef ARCHITECTURE
	if (!SANITIZED) {
		if (to->open)
			trap_calls(to);
		error = filter_calls(to);
	}
#endif
	return error;
}

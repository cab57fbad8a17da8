# SPDX-License-Identifier: GPL-2.0-only
# Makes the table of system calls from the kernel's own headers: linux/syscalls.h and asm-generic/syscalls.h have the
# arguments, asm/syscalls_64.h the numbers. A line of the table: number, name, format, types (of calls.c).

BEGIN {
	RS = ";"
	arguments["mmap"] = "unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags, int fd, unsigned long off"
	arguments["clone"] = "unsigned long clone_flags, unsigned long newsp, int *parent_tidptr, int *child_tidptr, unsigned long tls"
	arguments["rt_sigreturn"] = "void"
	arguments["arch_prctl"] = "int option, unsigned long arg2"
	arguments["iopl"] = "unsigned int level"
	arguments["modify_ldt"] = "int func, void *ptr, unsigned long bytecount"
	# Prototypes without names.
	arguments["rt_sigaction"] = "int sig, const struct sigaction *act, struct sigaction *oact, size_t sigsetsize"
	arguments["socket"] = "int family, int type, int protocol"
	arguments["bind"] = "int fd, struct sockaddr *umyaddr, int addrlen"
	arguments["connect"] = "int fd, struct sockaddr *uservaddr, int addrlen"
	arguments["accept"] = "int fd, struct sockaddr *upeer_sockaddr, int *upeer_addrlen"
	arguments["accept4"] = arguments["accept"] ", int flags"
	arguments["sendto"] = "int fd, void *buff, size_t len, unsigned int flags, struct sockaddr *addr, int addr_len"
	arguments["recvfrom"] = "int fd, void *ubuf, size_t size, unsigned int flags, struct sockaddr *addr, int *addr_len"
	arguments["shutdown"] = "int fd, int how"
	arguments["listen"] = "int fd, int backlog"
	arguments["getsockname"] = arguments["getpeername"] = "int fd, struct sockaddr *usockaddr, int *usockaddr_len"
	arguments["socketpair"] = "int family, int type, int protocol, int *usockvec"
	arguments["io_submit"] = "aio_context_t ctx_id, long nr, struct iocb **iocbpp"
	arguments["pselect6"] = "int n, fd_set *inp, fd_set *outp, fd_set *exp, struct timespec *tsp, void *sig"
	arguments["ppoll"] = "struct pollfd *ufds, unsigned int nfds, struct timespec *tsp, const sigset_t *sigmask, size_t sigsetsize"
	split("int pid_t key_t timer_t clockid_t key_serial_t mqd_t rwf_t s32 __s32 int32_t", words, " ")
	for (n in words)
		signed[words[n]] = 1
	split("unsigned_int unsigned umode_t uid_t gid_t old_uid_t old_gid_t qid_t u32 __u32 uint32_t", words, " ")
	for (n in words)
		unsigned[words[n]] = 1
	split("long loff_t off_t ssize_t old_time_t __kernel_old_time_t", words, " ")
	for (n in words)
		wide[words[n]] = 1
}

FILENAME !~ /syscalls_64/ {
	gsub(/\/\*[^*]*\*\//, "")
	gsub(/[ \t\n]+/, " ")
	if (match($0, /asmlinkage long sys_[a-z0-9_]+ ?\(/)) {
		name = substr($0, RSTART + 20, RLENGTH - 20)
		sub(/ ?\($/, "", name)
		rest = substr($0, RSTART + RLENGTH)
		sub(/\) *$/, "", rest)
		if (!(name in arguments))
			arguments[name] = rest
	}
}

# Reads the numbers line by line, once all arguments are known.
function describe(name,    parts, count, n, type, text, field, letter) {
	format = types = ""
	count = split(arguments[name], parts, ",")
	for (n = 1; n <= count; n++) {
		type = parts[n]
		text = type ~ /^ *const char [^*]*\* *[a-z_]+ *$/ && type !~ /buf|msg_ptr/
		gsub(/__user|const|struct|union|enum|__force/, " ", type)
		gsub(/^ +| +$/, "", type)
		gsub(/ +/, " ", type)
		if (type == "void")
			continue
		field = "arg" n
		if (match(type, /[ *][a-z_][a-z0-9_]*(\[\])?$/) && type !~ /^(unsigned |long )*(int|long|char)$/) {
			field = substr(type, RSTART + 1)
			letter = substr(type, RSTART, 1)
			type = substr(type, 1, RSTART - 1) (letter == "*" ? "*" : "")
			if (sub(/\[\]$/, "", field))
				type = type "*"
		}
		gsub(/ +$/, "", type)
		gsub(/ /, "_", type)
		if (type ~ /\*|cap_user|sighandler/)
			letter = text ? "s" : "p"
		else if (type in signed)
			letter = "d"
		else if (type in unsigned)
			letter = "u"
		else if (type in wide)
			letter = "l"
		else
			letter = "q"
		types = types letter
		format = format (n > 1 ? " " : "") field "=" conversion[letter]
	}
}

END {
	conversion["p"] = "%p"
	conversion["s"] = "%s"
	conversion["d"] = "%d"
	conversion["u"] = "%u"
	conversion["l"] = "%lld"
	conversion["q"] = "%llu"
	RS = "\n"
	while ((getline line < numbers) > 0) {
		if (line !~ /^__SYSCALL/)
			continue
		split(line, part, /[(),]/)
		name = part[3]
		gsub(/ |sys_/, "", name)
		if (name ~ /ni_syscall/ || part[2] + 0 >= 512) # from 512 on: x32
			continue
		describe(name)
		printf "{ %d, \"%s\", \"%s\", \"%s\" },\n", part[2], name, format, types
	}
}

# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The part of bench/module/run that runs in its machines, by busybox's shell. It prints parts that begin with `== NAME`.
T=/sys/kernel/tracing
CALLS='kernel.syscalls:*'
SWITCHES=kernel.sched:sched_switch

burin_on() { # CLOCK EVENT...
	insmod /burin.ko clock=$1 buffer=16777216 || return 1
	shift
	burin enable kernel "$@" >/dev/null
}

burin_off() {
	rmmod burin
}

ftrace_on() {
	for event; do echo 1 >$T/events/$event/enable; done
}

ftrace_off() {
	echo 0 >$T/events/enable
	cat $T/per_cpu/cpu0/stats
	echo >$T/trace
}

lttng_load() {
	for module in $LTTNG; do insmod /$module || return 1; done
}

# Bytes of a record as the rings have them: those of the packets of a snapshot, divided.
record_bytes() {
	burin snapshot kernel -o /tmp/snapshot >/dev/null 2>&1
	records=$(burin info --json /tmp/snapshot | sed -n 's/^ *"records":\([0-9]*\),.*/\1/p' | head -n 1)
	bytes=$(cat /tmp/snapshot/cpu* | wc -c)
	echo records_left ${records:=0}
	[ $records = 0 ] || printf 'bytes_of_record %d.%02d\n' $((bytes / records)) $((bytes * 100 / records % 100))
	rm -rf /tmp/snapshot
}

measure() {
	echo "$1" >/sys/module/burin_loop/parameters/measure
	cat /sys/module/burin_loop/parameters/measure
}

row_static() {
	insmod /burin.ko clock=tsc
	insmod /burin_loop.ko
	part empty; measure empty
	part off; measure burin
	burin enable kernel bench.two >/dev/null
	part burin; measure burin
	burin disable kernel bench.two >/dev/null
	part off again; measure burin
	ftrace_on burin_loop
	part ftrace; measure event
	ftrace_off
}

row_conditions() {
	insmod /burin.ko clock=tsc
	insmod /burin_loop.ko
	part empty; measure empty
	part none; systemcalls
	burin enable -q kernel bench.two "$CALLS"
	part on; measure burin; systemcalls
	burin enable -q kernel sched:sched_process_exec -w 'pid == 1'
	part other; measure burin; systemcalls
	burin enable -q kernel bench.two -w 'n < 1000000 && twice < 1000000'
	burin enable -q kernel "$CALLS" -w 'tid > 1 && tid < 1000000'
	part passes; measure burin; systemcalls
	burin enable -q kernel bench.two -w 'n > 1000000'
	burin enable -q kernel "$CALLS" -w 'tid == 1'
	part fails; measure burin; systemcalls
}

row_calls() {
	part none; systemcalls
	insmod /burin.ko
	part burin off; systemcalls
	insmod /burin_loop.ko probes=1
	part floor; systemcalls
	rmmod burin_loop
	rmmod burin
	for clock in tsc monotonic; do
		part burin $clock
		burin_on ${clock%tonic} "$CALLS" && systemcalls && record_bytes
		burin_off
	done
	ftrace_on raw_syscalls
	part ftrace; systemcalls
	ftrace_off
	part perf; tracers perf systemcalls
	part BPF; tracers bpf systemcalls
	lttng_load
	part LTTng; tracers lttng systemcalls
}

# A load: untraced, by each tracer, and untraced again.
by_all() {
	part warm; "$@"
	part none; "$@"
	insmod /burin.ko
	insmod /burin_loop.ko probes=1
	part floor; "$@"
	rmmod burin_loop
	rmmod burin
	burin_on tsc "$CALLS" "$SWITCHES"
	part burin; "$@"
	record_bytes
	burin_off
	ftrace_on raw_syscalls sched/sched_switch
	part ftrace; "$@"
	ftrace_off
	lttng_load
	part LTTng; tracers lttng+ "$@"
	part none again; "$@"
}

# A client that works through the first LINES of its file, as long as that takes. So all tracers record the same work. (What a client
# completes in a given time depends on which part of its file it has reached, and its throughput counts the bytes only.) The client
# reads from a pipe and is killed behind the end; what is still in the pipe then is the same each time. The count begins when it has
# opened the pipe: it is idle while it starts. Files of the run before would have to be removed first.
client() {
	mkfifo /fifo
	head -n $LINES /client.txt >/load
	cat >/client <<-END
		rm -rf /tmp/d
		mkdir /tmp/d
		$* >/dev/null 2>&1 &
		exec 3>/fifo
		sleep 1
		systemcalls sh -c 'cat /load >&3'
		killall -9 $1 2>/dev/null
	END
	by_all sh /client
}

row_dbench() {
	client dbench -c /fifo -t 1000 -D /tmp/d 1
}

row_tbench() {
	tbench_srv >/dev/null 2>&1 &
	sleep 1
	client tbench -c /fifo -t 1000 1 127.0.0.1
}

row_compile() {
	by_all systemcalls sh /compile
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Typed probes. Events and fields have the names that `burin record --kernel` gives them. Names of tasks are not in the
 * records: the names ring has them. A signature that differs from the kernel's is an error of the build.
 */
#include <linux/blkdev.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/sched/task_stack.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <asm/trace/exceptions.h>
#include <trace/events/block.h>
#include <trace/events/irq.h>
#include <trace/events/net.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/task.h>
#include <trace/events/timer.h>
#include <trace/events/workqueue.h>

#include "calls.h"
#include "compat.h"
#include "points.h"
#include "probes.h"
#include "record.h"

enum {
	TYPES_MAX = 8,
};

struct probe {
	const char *event, *format;
	void *function;
	uint8_t types[TYPES_MAX];
	bool has_calls; /* a field has the enum of system calls */
	struct tracepoint *found;
	bool attached;
	struct burin_site site;
};

/*
 * A record of a fixed size. Its fields are written through `p`, and zeros behind them. Its buffer is for rare cases, and has no text
 * or other thing of a variable size, so a check of the stack for each record is not worth its cost.
 */
#define PROBE static notrace __no_stack_protector

#define RECORD_WHERE(interrupts_off, ...)                          \
	struct {                                                   \
		__VA_ARGS__                                        \
		u64 zeros[];                                       \
	} __packed *p;                                             \
	enum {                                                     \
		LENGTH = sizeof(struct wire_compact) + sizeof(*p), \
	};                                                         \
	static_assert(LENGTH + 7 <= RECORD_BYTES_MAX);             \
	u64 buffer[RECORD_BUFFER_BYTES / 8], *at;                  \
	unsigned long flags;                                       \
	p = record_here(buffer, &at, &flags, interrupts_off, LENGTH)

#define RECORD(...) RECORD_WHERE(false, __VA_ARGS__)

#define PUT(probe)  (p->zeros[0] = 0, record_done(buffer, at, flags, (probe)->site.id, LENGTH))

/* All of them: the probe, its tracepoint of the kernel, the function that is called there. */
#define PROBES(X)                                                  \
	X(switched, sched_switch, on_switch)                       \
	X(woken, sched_wakeup, on_wakeup)                          \
	X(woken_new, sched_wakeup_new, on_wakeup_new)              \
	X(waking, sched_waking, on_waking)                         \
	X(migrated, sched_migrate_task, on_migrate)                \
	X(forked, sched_process_fork, on_fork)                     \
	X(executed, sched_process_exec, on_exec)                   \
	X(exited, sched_process_exit, on_exit)                     \
	X(made, task_newtask, on_newtask)                          \
	X(renamed, task_rename, on_rename)                         \
	X(irq_entered, irq_handler_entry, on_irq_entry)            \
	X(irq_left, irq_handler_exit, on_irq_exit)                 \
	X(softirq_entered, softirq_entry, on_softirq_entry)        \
	X(softirq_left, softirq_exit, on_softirq_exit)             \
	X(issued, block_rq_issue, on_issue)                        \
	X(completed, block_rq_complete, on_complete)               \
	X(bio_queued, block_bio_queue, on_bio_queue)               \
	X(transmitted, net_dev_xmit, on_transmit)                  \
	X(received, netif_receive_skb, on_receive)                 \
	X(timer_started, timer_start, on_timer_start)              \
	X(timer_cancelled, timer_cancel, on_timer_cancel)          \
	X(timer_entered, timer_expire_entry, on_timer_entry)       \
	X(timer_left, timer_expire_exit, on_timer_exit)            \
	X(hrtimer_cancelled, hrtimer_cancel, on_hrtimer_cancel)    \
	X(hrtimer_entered, hrtimer_expire_entry, on_hrtimer_entry) \
	X(hrtimer_left, hrtimer_expire_exit, on_hrtimer_exit)      \
	X(work_queued, workqueue_queue_work, on_queue)             \
	X(work_activated, workqueue_activate_work, on_activate)    \
	X(work_begun, workqueue_execute_start, on_execute)         \
	X(work_ended, workqueue_execute_end, on_executed)          \
	X(user_fault, page_fault_user, on_user_fault)              \
	X(kernel_fault, page_fault_kernel, on_kernel_fault)        \
	X(signalled, signal_generate, on_generate)                 \
	X(delivered, signal_deliver, on_deliver)

#define DECLARE(name, point, function) static struct probe name;
PROBES(DECLARE)

/* ---- the scheduler */

/* As sched_switch of tracefs shows it: one bit, or 256 of a task that wants to run on. */
static __always_inline u64 state_of(bool preempt, struct task_struct *task, unsigned int state)
{
	unsigned int index;

	if (preempt)
		return TASK_REPORT_MAX;
	if (likely(state <= TASK_INTERRUPTIBLE && !task->exit_state)) /* the usual ones at once */
		return state;
	index = __task_state_index(state, task->exit_state);
	return index ? 1 << (index - 1) : 0;
}

/* The system call that a task is in: what entered the kernel is in the registers at the bottom of its stack. */
static __always_inline s16 call_of(struct task_struct *task)
{
	u32 number;

	if (task->flags & PF_KTHREAD)
		return -1;
	if (task->thread_info.status & TS_COMPAT) /* other numbers */
		return -2;
	number = (u32)task_pt_regs(task)->orig_ax; /* as the kernel takes it */
	return number < 512 ? number : -1;
}

PROBE void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		     unsigned int state)
{
	RECORD_WHERE(true, s32 prev_pid, prev_prio; s64 prev_state; s32 next_pid, next_prio;
		     s16 prev_syscall;);

	p->prev_pid = prev->pid;
	p->prev_prio = prev->prio;
	p->prev_state = state_of(preempt, prev, state);
	p->next_pid = next->pid;
	p->next_prio = next->prio;
	p->prev_syscall = call_of(prev);
	PUT(&switched);
}

static __always_inline void put_wake(const struct probe *probe, struct task_struct *task)
{
	RECORD(s32 pid, prio, target_cpu;);

	p->pid = task->pid;
	p->prio = task->prio;
	p->target_cpu = task_cpu(task);
	PUT(probe);
}

PROBE void on_wakeup(void *data, struct task_struct *task)
{
	put_wake(&woken, task);
}

PROBE void on_wakeup_new(void *data, struct task_struct *task)
{
	put_wake(&woken_new, task);
}

/* Whether the current task was only interrupted. Soft interrupts in ksoftirqd are that task's. */
static __always_inline bool is_interrupt(void)
{
	return in_hardirq() || (in_serving_softirq() &&
				!(current->flags & PF_KTHREAD && memcmp(current->comm, "ksoftirqd", 9) == 0));
}

PROBE void on_waking(void *data, struct task_struct *task)
{
	RECORD(s32 pid, prio, target_cpu; s8 interrupt;);

	p->pid = task->pid;
	p->prio = task->prio;
	p->target_cpu = task_cpu(task);
	p->interrupt = is_interrupt();
	PUT(&waking);
}

PROBE void on_migrate(void *data, struct task_struct *task, int cpu)
{
	RECORD(s32 pid, prio, orig_cpu, dest_cpu;);

	p->pid = task->pid;
	p->prio = task->prio;
	p->orig_cpu = task_cpu(task);
	p->dest_cpu = cpu;
	PUT(&migrated);
}

PROBE void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	RECORD(s32 parent_pid, child_pid;);

	p->parent_pid = parent->pid;
	p->child_pid = child->pid;
	PUT(&forked);
}

static notrace void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *program)
{
	const union burin_arg arguments[] = { { .p = program->filename },
					      { .u = task->pid },
					      { .u = old_pid } };

	burin_emit_args(&executed.site, 1, arguments);
}

PROBE void on_exit(void *data, struct task_struct *task)
{
	RECORD(s32 pid, prio;);

	p->pid = task->pid;
	p->prio = task->prio;
	PUT(&exited);
}

static notrace void on_newtask(void *data, struct task_struct *task, unsigned long flags)
{
	const union burin_arg arguments[] = { { .u = task->pid }, { .p = task->comm }, { .u = flags } };

	burin_emit_args(&made.site, 1, arguments);
}

static notrace void on_rename(void *data, struct task_struct *task, const char *name)
{
	const union burin_arg arguments[] = { { .u = task->pid }, { .p = task->comm }, { .p = name } };

	burin_emit_args(&renamed.site, 1, arguments);
}

/* ---- interrupts */

static notrace void on_irq_entry(void *data, int irq, struct irqaction *action)
{
	const union burin_arg arguments[] = { { .u = irq }, { .p = action->name } };

	burin_emit_args(&irq_entered.site, 1, arguments);
}

PROBE void on_irq_exit(void *data, int irq, struct irqaction *action, int result)
{
	RECORD(s32 irq, ret;);

	p->irq = irq;
	p->ret = result;
	PUT(&irq_left);
}

PROBE void on_softirq_entry(void *data, unsigned int vector)
{
	RECORD(u32 vec;);

	p->vec = vector;
	PUT(&softirq_entered);
}

PROBE void on_softirq_exit(void *data, unsigned int vector)
{
	RECORD(u32 vec;);

	p->vec = vector;
	PUT(&softirq_left);
}

/* ---- disks */

PROBE void on_issue(void *data, struct request *request)
{
	RECORD(u32 dev; u64 sector; u32 nr_sector, bytes, op;);

	p->dev = request->q->disk ? disk_devt(request->q->disk) : 0;
	p->sector = blk_rq_trace_sector(request); /* 0: it has none */
	p->nr_sector = blk_rq_trace_nr_sectors(request);
	p->bytes = blk_rq_bytes(request);
	p->op = req_op(request);
	PUT(&issued);
}

PROBE void on_complete(void *data, struct request *request, blk_status_t error, unsigned int bytes)
{
	RECORD(u32 dev; u64 sector; u32 nr_sector; s32 error; u32 op;);

	p->dev = request->q->disk ? disk_devt(request->q->disk) : 0;
	p->sector = blk_rq_pos(request);
	p->nr_sector = bytes >> 9;
	p->error = blk_status_to_errno(error);
	p->op = req_op(request);
	PUT(&completed);
}

PROBE void on_bio_queue(void *data, struct bio *bio)
{
	RECORD(u32 dev; u64 sector; u32 nr_sector, op;);

	p->dev = bio_dev(bio);
	p->sector = bio->bi_iter.bi_sector;
	p->nr_sector = bio_sectors(bio);
	p->op = bio_op(bio);
	PUT(&bio_queued);
}

/* ---- the network */

static notrace void on_transmit(void *data, struct sk_buff *packet, int result, struct net_device *device,
				unsigned int length)
{
	const union burin_arg arguments[] = {
		{ .p = packet }, { .u = length }, { .u = result }, { .p = device->name }
	};

	burin_emit_args(&transmitted.site, 1, arguments);
}

static notrace void on_receive(void *data, struct sk_buff *packet)
{
	const union burin_arg arguments[] = { { .p = packet },
					      { .u = packet->len },
					      { .p = packet->dev->name } };

	burin_emit_args(&received.site, 1, arguments);
}

/* ---- timers */

PROBE void on_timer_start(void *data, struct timer_list *timer, COMPAT_TIMER_START)
{
	RECORD(u64 timer, function, expires, now; u32 flags;);

	p->timer = (u64)timer;
	p->function = (u64)timer->function;
	p->expires = timer->expires;
	p->now = jiffies;
	p->flags = timer->flags;
	PUT(&timer_started);
}

static __always_inline void put_address(const struct probe *probe, const void *address)
{
	RECORD(u64 address;);

	p->address = (u64)address;
	PUT(probe);
}

PROBE void on_timer_cancel(void *data, struct timer_list *timer)
{
	put_address(&timer_cancelled, timer);
}

PROBE void on_timer_entry(void *data, struct timer_list *timer, unsigned long baseclk)
{
	RECORD(u64 timer, now, function, baseclk;);

	p->timer = (u64)timer;
	p->now = jiffies;
	p->function = (u64)timer->function;
	p->baseclk = baseclk;
	PUT(&timer_entered);
}

PROBE void on_timer_exit(void *data, struct timer_list *timer)
{
	put_address(&timer_left, timer);
}

PROBE void on_hrtimer_cancel(void *data, struct hrtimer *hrtimer)
{
	put_address(&hrtimer_cancelled, hrtimer);
}

PROBE void on_hrtimer_entry(void *data, struct hrtimer *hrtimer, ktime_t *now)
{
	RECORD(u64 hrtimer; s64 now; u64 function;);

	p->hrtimer = (u64)hrtimer;
	p->now = *now;
	p->function = (u64)hrtimer->function;
	PUT(&hrtimer_entered);
}

PROBE void on_hrtimer_exit(void *data, struct hrtimer *hrtimer)
{
	put_address(&hrtimer_left, hrtimer);
}

/* ---- work that the kernel's threads do later */

static __always_inline void put_work(const struct probe *probe, const void *work, const void *function)
{
	RECORD(u64 work, function;);

	p->work = (u64)work;
	p->function = (u64)function;
	PUT(probe);
}

PROBE void on_queue(void *data, int cpu, struct pool_workqueue *queue, struct work_struct *work)
{
	RECORD(u64 work, function; s32 req_cpu;);

	p->work = (u64)work;
	p->function = (u64)work->func;
	p->req_cpu = cpu;
	PUT(&work_queued);
}

PROBE void on_activate(void *data, struct work_struct *work)
{
	put_work(&work_activated, work, work->func);
}

PROBE void on_execute(void *data, struct work_struct *work)
{
	put_work(&work_begun, work, work->func);
}

/* The work may be gone. */
PROBE void on_executed(void *data, struct work_struct *work, work_func_t function)
{
	put_work(&work_ended, work, function);
}

/* ---- page faults and signals */

static __always_inline void put_fault(const struct probe *probe, unsigned long address,
				      const struct pt_regs *registers, unsigned long code)
{
	RECORD(u64 address, ip, error_code;);

	p->address = address;
	p->ip = registers->ip;
	p->error_code = code;
	PUT(probe);
}

PROBE void on_user_fault(void *data, unsigned long address, struct pt_regs *registers, unsigned long code)
{
	put_fault(&user_fault, address, registers, code);
}

PROBE void on_kernel_fault(void *data, unsigned long address, struct pt_regs *registers, unsigned long code)
{
	put_fault(&kernel_fault, address, registers, code);
}

/* Two kinds of senders give a mark instead of a signal's description. */
static __always_inline s32 code_of(const struct kernel_siginfo *info)
{
	if (info == SEND_SIG_NOINFO)
		return SI_USER;
	return info == SEND_SIG_PRIV ? SI_KERNEL : info->si_code;
}

static __always_inline s32 errno_of(const struct kernel_siginfo *info)
{
	return info == SEND_SIG_NOINFO || info == SEND_SIG_PRIV ? 0 : info->si_errno;
}

PROBE void on_generate(void *data, int sig, struct kernel_siginfo *info, struct task_struct *task, int group,
		       int result)
{
	RECORD(s32 sig, errno, code, pid, group, result;);

	p->sig = sig;
	p->errno = errno_of(info);
	p->code = code_of(info);
	p->pid = task->pid;
	p->group = group;
	p->result = result;
	PUT(&signalled);
}

PROBE void on_deliver(void *data, int sig, struct kernel_siginfo *info, struct k_sigaction *action)
{
	RECORD(s32 sig, errno, code; u64 sa_handler, sa_flags;);

	p->sig = sig;
	p->errno = errno_of(info);
	p->code = code_of(info);
	p->sa_handler = (u64)action->sa.sa_handler;
	p->sa_flags = action->sa.sa_flags;
	PUT(&delivered);
}

/* ---- their events */

#define TYPES(...)    .types = { __VA_ARGS__ }
#define ADDRESS(name) .format = name "=%p", TYPES(WIRE_PTR)
#define WORK	      .format = "work=%p function=%p", TYPES(WIRE_PTR, WIRE_PTR)
#define FAULT	      .format = "address=%llu ip=%llu error_code=%llu", TYPES(WIRE_U64, WIRE_U64, WIRE_U64)
#define WAKE	      .format = "pid=%d prio=%d target_cpu=%d", TYPES(WIRE_I32, WIRE_I32, WIRE_I32)

static struct probe switched = { .event = "sched:sched_switch",
				 .format = "prev_pid=%d prev_prio=%d prev_state=%lld next_pid=%d "
					   "next_prio=%d prev_syscall=%hd{calls}",
				 .has_calls = true,
				 TYPES(WIRE_I32, WIRE_I32, WIRE_I64, WIRE_I32, WIRE_I32, WIRE_I16) },
		    woken = { .event = "sched:sched_wakeup", WAKE },
		    woken_new = { .event = "sched:sched_wakeup_new", WAKE },
		    waking = { .event = "sched:sched_waking",
			       .format = "pid=%d prio=%d target_cpu=%d interrupt=%hhd",
			       TYPES(WIRE_I32, WIRE_I32, WIRE_I32, WIRE_I8) },
		    migrated = { .event = "sched:sched_migrate_task",
				 .format = "pid=%d prio=%d orig_cpu=%d dest_cpu=%d",
				 TYPES(WIRE_I32, WIRE_I32, WIRE_I32, WIRE_I32) },
		    forked = { .event = "sched:sched_process_fork",
			       .format = "parent_pid=%d child_pid=%d",
			       TYPES(WIRE_I32, WIRE_I32) },
		    executed = { .event = "sched:sched_process_exec",
				 .format = "filename=%s pid=%d old_pid=%d",
				 TYPES(WIRE_STR, WIRE_I32, WIRE_I32) },
		    exited = { .event = "sched:sched_process_exit",
			       .format = "pid=%d prio=%d",
			       TYPES(WIRE_I32, WIRE_I32) },
		    made = { .event = "task:task_newtask",
			     .format = "pid=%d comm=%s clone_flags=%llu",
			     TYPES(WIRE_I32, WIRE_STR, WIRE_U64) },
		    renamed = { .event = "task:task_rename",
				.format = "pid=%d oldcomm=%s newcomm=%s",
				TYPES(WIRE_I32, WIRE_STR, WIRE_STR) },
		    irq_entered = { .event = "irq:irq_handler_entry",
				    .format = "irq=%d name=%s",
				    TYPES(WIRE_I32, WIRE_STR) },
		    irq_left = { .event = "irq:irq_handler_exit",
				 .format = "irq=%d ret=%d",
				 TYPES(WIRE_I32, WIRE_I32) },
		    softirq_entered = { .event = "irq:softirq_entry", .format = "vec=%u", TYPES(WIRE_U32) },
		    softirq_left = { .event = "irq:softirq_exit", .format = "vec=%u", TYPES(WIRE_U32) },
		    issued = { .event = "block:block_rq_issue",
			       .format = "dev=%u sector=%llu nr_sector=%u bytes=%u op=%u",
			       TYPES(WIRE_U32, WIRE_U64, WIRE_U32, WIRE_U32, WIRE_U32) },
		    completed = { .event = "block:block_rq_complete",
				  .format = "dev=%u sector=%llu nr_sector=%u error=%d op=%u",
				  TYPES(WIRE_U32, WIRE_U64, WIRE_U32, WIRE_I32, WIRE_U32) },
		    bio_queued = { .event = "block:block_bio_queue",
				   .format = "dev=%u sector=%llu nr_sector=%u op=%u",
				   TYPES(WIRE_U32, WIRE_U64, WIRE_U32, WIRE_U32) },
		    transmitted = { .event = "net:net_dev_xmit",
				    .format = "skbaddr=%p len=%u rc=%d name=%s",
				    TYPES(WIRE_PTR, WIRE_U32, WIRE_I32, WIRE_STR) },
		    received = { .event = "net:netif_receive_skb",
				 .format = "skbaddr=%p len=%u name=%s",
				 TYPES(WIRE_PTR, WIRE_U32, WIRE_STR) };

static struct probe timer_started = { .event = "timer:timer_start",
				      .format = "timer=%p function=%p expires=%llu now=%llu flags=%u",
				      TYPES(WIRE_PTR, WIRE_PTR, WIRE_U64, WIRE_U64, WIRE_U32) },
		    timer_cancelled = { .event = "timer:timer_cancel", ADDRESS("timer") },
		    timer_entered = { .event = "timer:timer_expire_entry",
				      .format = "timer=%p now=%llu function=%p baseclk=%llu",
				      TYPES(WIRE_PTR, WIRE_U64, WIRE_PTR, WIRE_U64) },
		    timer_left = { .event = "timer:timer_expire_exit", ADDRESS("timer") },
		    hrtimer_cancelled = { .event = "timer:hrtimer_cancel", ADDRESS("hrtimer") },
		    hrtimer_entered = { .event = "timer:hrtimer_expire_entry",
					.format = "hrtimer=%p now=%lld function=%p",
					TYPES(WIRE_PTR, WIRE_I64, WIRE_PTR) },
		    hrtimer_left = { .event = "timer:hrtimer_expire_exit", ADDRESS("hrtimer") },
		    work_queued = { .event = "workqueue:workqueue_queue_work",
				    .format = "work=%p function=%p req_cpu=%d",
				    TYPES(WIRE_PTR, WIRE_PTR, WIRE_I32) },
		    work_activated = { .event = "workqueue:workqueue_activate_work", WORK },
		    work_begun = { .event = "workqueue:workqueue_execute_start", WORK },
		    work_ended = { .event = "workqueue:workqueue_execute_end", WORK },
		    user_fault = { .event = "exceptions:page_fault_user", FAULT },
		    kernel_fault = { .event = "exceptions:page_fault_kernel", FAULT },
		    signalled = { .event = "signal:signal_generate",
				  .format = "sig=%d errno=%d code=%d pid=%d group=%d result=%d",
				  TYPES(WIRE_I32, WIRE_I32, WIRE_I32, WIRE_I32, WIRE_I32, WIRE_I32) },
		    delivered = { .event = "signal:signal_deliver",
				  .format = "sig=%d errno=%d code=%d sa_handler=%llu sa_flags=%llu",
				  TYPES(WIRE_I32, WIRE_I32, WIRE_I32, WIRE_U64, WIRE_U64) };

#define ADDRESS_OF(name, point, function) &name,
static struct probe *const probes[] = { PROBES(ADDRESS_OF) };

/* Never called: the compiler compares each function with the kernel's declaration. */
#define CHECK(name, point, function) check_trace_callback_type_##point(function);
static void __maybe_unused check_signatures(void)
{
	PROBES(CHECK)
}

static u64 types_of(const struct probe *probe)
{
	u64 types = 0;

	for (unsigned int n = 0; n < TYPES_MAX; n++)
		types |= (u64)probe->types[n] << 4 * n;
	return types;
}

static void register_probe(struct probe *probe, const char *point, void *function, const char *calls)
{
	char name[WIRE_NAME_MAX + 1];
	const struct session_event event = { .name = name,
					     .format = probe->format,
					     .file = "kernel",
					     .enums = probe->has_calls ? calls : NULL,
					     .types = types_of(probe) };
	uint16_t id;

	snprintf(name, sizeof(name), "kernel.%s", probe->event);
	probe->function = function;
	probe->found = points_find(point);
	if (!probe->found)
		return;
	session_event_register(&burin_session, &event, 1, &id);
	if (!id)
		pr_err("burin: %s: %s\n", name, session_event_fault(&burin_session, &event));
	probe->site = (struct burin_site){
		.name = probe->event, .format = probe->format, .types = event.types, .id = id
	};
}

#define REGISTER(name, point, function) register_probe(&name, #point, function, calls);

int probes_register(bool texts)
{
	char *calls = calls_enum();

	if (!calls)
		return -ENOMEM;
	PROBES(REGISTER)
	kfree(calls);
	return calls_register(texts);
}

void probes_switch(u32 index, bool on)
{
	if (calls_switch(index, on))
		return;
	for (unsigned int n = 0; n < ARRAY_SIZE(probes); n++) {
		struct probe *probe = probes[n];

		if (probe->site.id != index + 1 || probe->attached == on)
			continue;
		if (!on)
			tracepoint_probe_unregister(probe->found, probe->function, NULL);
		else if (tracepoint_probe_register(probe->found, probe->function, NULL))
			return;
		probe->attached = on;
	}
}

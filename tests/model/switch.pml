/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Commands that switch events, programs that register events, and listings, for spin. filter.pml has what a tracepoint
 * sees of a change.
 *
 * State: the rule for events to come, `paused`, and per event what is wanted and the effective byte, which is
 * paused ? off : wanted. All are changed under the lock, by carrying out `intent`: what the last command was told. Carrying it
 * out twice is the same as once. `count` is odd from the moment that the intent holds to the moment that all is done.
 *
 *   command   lock; if the count is odd, its owner died: carry out its intent, count + 1. Then one's own: intent; count + 1;
 *             carry it out: (rule and wants, or paused), then ALL effective bytes; count + 1. Unlock.
 *   register  lock; wants from the rule, byte, number of events last; unlock. No count: an event appears whole.
 *   list      count, everything, count again: good if it was even and is the same. After TRIES in vain: lock; as a command
 *             if the count is odd; read; unlock.
 *
 * So a command is all or nothing, even if it is killed: its commit is the count that becomes odd.
 *
 * What is abstracted, and why that is sound
 *
 *   The lock is ring.pml's: it excludes, and is taken over from the dead, whose stores have all happened. So death
 *   here frees it at once. Commands are one process, which begins anew as the next.
 *   Memory order: program order. A sequence count needs a store fence (release) behind the store that makes it odd,
 *   and a load fence (acquire) before it is loaded again; that is not modelled.
 *   A value wanted is a command's number; 0 is off. Each command changes all events. Filters are part of the value, also of the
 *   rule: the process that registers compiles them, under the lock, before the event exists.
 *
 *   listing   a view is the state between two commands: what the last one that was committed asked for, and no part of it
 *   truth     the effective bytes in it are those that it explains
 *   between   no event falls between a rule and its registration
 *   meant     when a command returns, each event has what was last asked for, or is paused
 *   progress  everybody ends, whoever died
 */
#include "check.pml"

#ifndef K
#define K 2 /* commands */
#endif
#ifndef EVENTS
#define EVENTS 2 /* registered at the beginning */
#endif
#ifndef NEWCOMERS
#define NEWCOMERS 1 /* and later */
#endif
#ifndef TRIES
#define TRIES 2
#endif
#ifndef LISTERS
#define LISTERS 1
#endif
#define EVENTS_MAX (EVENTS + NEWCOMERS)

#ifndef LISTING
#define LISTING ALL
#endif
#ifndef TRUTH
#define TRUTH ALL
#endif
#ifndef BETWEEN
#define BETWEEN ALL
#endif
#ifndef MEANT
#define MEANT ALL
#endif
#ifndef PROGRESS
#define PROGRESS ALL
#endif
hidden byte listing = LISTING, truth = TRUTH, between = BETWEEN, meant = MEANT, progress = PROGRESS;
#define W_repaired 1
#define W_again 2
#define W_halfway 3

bool lock;
byte count;
byte intent; /* number of a command that sets all events; or: */
#define STOP 100
#define GO 101
byte rule;
bool paused;
byte events = EVENTS;
byte wants[EVENTS_MAX];
byte effective[EVENTS_MAX];
/* ghosts: of the last command that was committed */
byte asked;
bool asked_stop;
byte ended;

#define EFFECTIVE(e) (paused -> 0 : wants[e])

/* One store; or the process is killed, and its lock can be had. */
#define STORE(...)                                                                                                 \
	if                                                                                                         \
	:: atomic { __VA_ARGS__ }                                                                                  \
	:: goto dies                                                                                               \
	fi
#define LOCK                                                                                                       \
	atomic { !lock -> lock = true }

inline carry_out()
{
	if
	:: intent >= STOP -> STORE(paused = (intent == STOP))
	:: else -> STORE(rule = intent)
	fi;
	e = 0;
	do
#ifdef STOP_FORGETS
	:: intent == STOP && e < events -> STORE(wants[e] = 0; e++) /* broken */
#endif
	:: intent < STOP && e < events -> STORE(wants[e] = intent; e++)
	:: else -> break
	od;
	all_effective()
}

inline all_effective()
{
	e = 0;
	do
	:: e < events -> STORE(effective[e] = EFFECTIVE(e); e++)
	:: else -> break
	od
}

/* For whoever has got the lock. */
inline repair()
{
	if
#ifndef NOT_REPAIRED
	:: count % 2 == 1 ->
		SEEN(repaired);
#ifdef BYTES_ONLY
		all_effective(); /* broken: what was wanted stays half done */
#else
		carry_out();
#endif
		STORE(count++)
#endif
	:: else
	fi;
	e = 0
}

proctype command()
{
	byte n, e, told;

next:	atomic {
		e = 0; told = 0;
		n++;
		if
		:: n > K -> goto done
		:: n <= K -> told = n
		:: n <= K -> told = STOP
		:: n <= K && asked_stop -> told = GO
		fi
	};
	LOCK;
	repair();
	STORE(intent = told);
	STORE(
		count++;
		if
		:: told >= STOP -> asked_stop = (told == STOP)
		:: else -> asked = told
		fi);
	carry_out();
	STORE(count++);
	atomic {
		e = 0;
		do
		:: e < events ->
			CHECK(meant, effective[e] == (asked_stop -> 0 : asked));
			CHECK(between, wants[e] == asked);
			e++
		:: else -> break
		od
	};
	atomic { lock = false; goto next };
dies:	atomic { SEEN(halfway); lock = false; goto next };
done:	atomic { n = 0; ended++ }
}

proctype registration()
{
	byte left = NEWCOMERS;

next:	atomic {
		left > 0;
#ifndef UNLOCKED
		!lock -> lock = true
#endif
	};
	STORE(wants[events] = rule);
	STORE(effective[events] = EFFECTIVE(events));
	STORE(events++);
	atomic {
		left--;
#ifndef UNLOCKED
		CHECK(between, count % 2 == 1 || wants[events - 1] == asked);
		lock = false;
#endif
		if
		:: left > 0 -> goto next
		:: else -> goto done
		fi
	};
dies:	atomic {
#ifndef UNLOCKED
		lock = false;
#endif
		skip
	};
done:	atomic { ended++ }
}

/* What was read must be what is, between two commands. */
inline judge()
{
	e = 0;
	do
	:: e < m ->
		CHECK(listing, w[e] == asked && st == asked_stop);
		CHECK(truth, b[e] == (st -> 0 : w[e]));
		e++
	:: else -> break
	od
}

proctype list()
{
	byte c, m, e, tries;
	bool st;
	byte w[EVENTS_MAX], b[EVENTS_MAX];

look:	atomic {
#ifdef HOPES
		count % 2 == 0; /* broken: waits for an even count, for ever */
		c = count;
#else
		c = count;
		tries++;
		if
		:: tries > TRIES -> goto take
		:: tries <= TRIES && c % 2 == 1 -> c = 0; goto look
		:: else
		fi;
#endif
		m = events;
		e = 0
	};
	atomic { st = paused };
	do
	:: atomic { e < m -> w[e] = wants[e] };
	   atomic { b[e] = effective[e]; e++ }
	:: e == m -> break
	od;
	atomic {
#ifndef NO_SECOND_COUNT
		if
		:: count != c -> SEEN(again); goto look
		:: else
		fi;
#endif
		judge();
		goto done
	};

take:	LOCK;
#ifndef NO_REPAIR
	repair();
#endif
	atomic {
		m = events;
		st = paused;
		e = 0;
		do
		:: e < m -> w[e] = wants[e]; b[e] = effective[e]; e++
		:: else -> break
		od;
		judge()
	};
dies:	atomic { lock = false };
done:	atomic { ended++ }
}

init {
	byte i;

	atomic {
		run command();
#if NEWCOMERS
		run registration();
#endif
		do
		:: i < LISTERS -> i++; run list()
		:: else -> break
		od;
		i = 0
	};
	atomic { timeout -> CHECK(progress, ended == 1 + (NEWCOMERS > 0) + LISTERS) }
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One event's switch byte and filter, changed by commands while tracepoints pass, for spin. switch.pml has what
 * commands, registrations and listings do to each other.
 *
 * A command with a filter, under the lock: takes a place in the append-only area (`used`), writes the program there, then
 * its offset (release), then the byte (release). Others store the byte alone.
 *
 * A tracepoint loads the byte; if it says CHECKED, fences (acquire), loads the offset and has the program
 *
 *   valid   in the process's private copy: runs it.
 *   new     claims the private place by compare-and-swap, copies, verifies, and says valid (release), or bad.
 *   else    (claimed by another thread, by the thread that a handler has interrupted, or by one that fork() left behind):
 *           copies to its stack, verifies and runs that. Nobody waits.
 *
 * What is abstracted, and why that is sound
 *
 *   Commands are one process: the lock excludes them (ring.pml). It may die after any store, and begins anew as the next.
 *   A program is two words that must be equal: its number twice. A checksum that is right by chance is left out.
 *   Memory order. The words of a program become visible in any order; the releases keep the rest. The tracepoint's
 *   loads are in order by its fence; LOADS_SWAPPED is what a weaker machine makes of it without. A compiler or
 *   machine with other freedoms (not multi-copy atomic) is not modelled.
 *   What the area holds at a place is written once, unless somebody scribbles (SCRIBBLE).
 *
 *   rule      a tracepoint decides by a rule that was in force, or being brought into force, at some moment of its pass:
 *             so by the new one if the command has returned before the pass; and never by half of one
 *   verified  what is run was verified, word for word, whatever others write into the area
 */
#include "check.pml"

#ifndef K
#define K 3 /* commands */
#endif
#ifndef TRACEPOINTS
#define TRACEPOINTS 2
#endif
#ifndef PASSES
#define PASSES 1 /* of each */
#endif

#ifndef RULE
#define RULE ALL
#endif
#ifndef VERIFIED
#define VERIFIED ALL
#endif
hidden byte rule = RULE, verified = VERIFIED;
#define W_shared 1
#define W_bad 2
#define W_changed 3

#define OFF 0
#define ON 1
#define CHECKED 2
#define NEW 0
#define CLAIMED 1
#define VALID 2
#define BAD 3

byte byte_;
byte offset; /* of the program: a place from 1 on; 0: none */
byte used;   /* places given out */
byte area[2 * (K + 1)];
/* the traced process's own */
byte copy[2 * (K + 1)];
byte state[K + 1];
/* ghosts: rules, a bit for off, on, and each program */
#define BIT(r) (1 << (r))
#define PROGRAM(n) (1 + (n))
short possible = BIT(OFF);  /* in force now, or being brought into force */
short may[TRACEPOINTS + 1]; /* ... at some moment of a tracepoint's pass */
bool scribbled;

#define STORE(...)                                                                                                 \
	if                                                                                                         \
	:: atomic { __VA_ARGS__ }                                                                                  \
	:: goto next /* killed */                                                                                  \
	fi

inline begin(r)
{
	possible = possible | BIT(r);
	may[1] = may[1] | BIT(r);
	may[TRACEPOINTS] = may[TRACEPOINTS] | BIT(r)
}

inline place_it()
{
#ifdef IN_PLACE
	place = (offset != 0 -> offset : used + 1) /* broken: a program is changed */
#else
	place = used + 1
#endif
}

proctype command()
{
	byte n, place; /* this command's number, which is its program's */

next:	atomic {
		place = 0;
		n++
	};
	if
	:: atomic { n > K -> n = 0; goto done }
	:: atomic { n <= K -> begin(OFF) };
	   STORE(byte_ = OFF);
	   STORE(possible = BIT(OFF); goto next)
	:: atomic { n <= K -> begin(ON) };
	   STORE(byte_ = ON);
	   STORE(possible = BIT(ON); goto next)
	:: atomic { n <= K -> begin(PROGRAM(n)); place_it() };
#ifdef SWITCH_FIRST
	   STORE(byte_ = CHECKED);
#endif
#ifdef OFFSET_FIRST
	   STORE(offset = place);
#endif
#ifndef USED_LAST
	   STORE(used = (place > used -> place : used));
#endif
	   if
	   :: STORE(area[2 * place] = n);
	      STORE(area[2 * place + 1] = n)
	   :: STORE(area[2 * place + 1] = n);
	      STORE(area[2 * place] = n)
	   fi;
	   STORE(offset = place);
#ifdef USED_LAST
	   STORE(used = place); /* broken: the next one takes the same place if this one dies before */
#endif
	   STORE(byte_ = CHECKED);
	   STORE(possible = BIT(PROGRAM(n)); goto next)
	fi;
done:	skip
}

#define DECIDE(r) CHECK(rule, (may[me] & BIT(r)) != 0)

proctype tracepoint(byte me)
{
	byte passes, o, a, b;

pass:	atomic {
		o = 0; a = 0; b = 0;
		may[me] = 0;
		if
		:: passes == PASSES -> goto done
		:: else -> passes++
		fi
	};
	atomic {
		may[me] = possible;
#ifdef LOADS_SWAPPED
		o = offset /* broken: no fence between the loads */
#endif
	};
	atomic {
		if
		:: byte_ == OFF -> DECIDE(OFF); goto pass
		:: byte_ == ON -> DECIDE(ON); goto pass
		:: byte_ == CHECKED
		fi
	};
#ifndef LOADS_SWAPPED
	atomic { o = offset };
#endif
	atomic {
		if
		:: o == 0 -> DECIDE(ON); goto pass
		:: o != 0 && state[o] == VALID -> goto private
#ifndef SHARED_COPY
		:: o != 0 && state[o] == NEW -> state[o] = CLAIMED
		:: o != 0 && state[o] == CLAIMED -> SEEN(shared); goto own
		:: o != 0 && state[o] == BAD -> SEEN(bad); CHECK(rule, scribbled); goto pass
#else
		:: o != 0 && state[o] == NEW /* all who find it new copy it to the same place */
		:: o != 0 && state[o] == BAD -> CHECK(rule, scribbled); goto pass
#endif
		fi
	};
	atomic { copy[2 * o] = area[2 * o] };
	atomic { copy[2 * o + 1] = area[2 * o + 1] };
	atomic {
		if
		:: copy[2 * o] == 0 || copy[2 * o] != copy[2 * o + 1] ->
			state[o] = BAD;
			CHECK(rule, scribbled);
			goto pass
		:: else -> state[o] = VALID
		fi
	};
private:	atomic { a = copy[2 * o] };
	atomic { b = copy[2 * o + 1]; goto evaluate };
own:	atomic { a = area[2 * o] };
	atomic {
		b = area[2 * o + 1];
		if
		:: a == 0 || a != b -> CHECK(rule, scribbled); goto pass
		:: else
		fi
	};
evaluate:
	atomic {
		CHECK(verified, a != 0 && a == b);
		if
		:: !scribbled -> DECIDE(PROGRAM(a))
		:: else
		fi;
		if
		:: a > 1 && (may[me] & BIT(PROGRAM(a - 1))) -> SEEN(changed)
		:: else
		fi;
		goto pass
	};
done:	skip
}

#ifdef SCRIBBLE
proctype scribbler()
{
	byte i;

	atomic {
		do
		:: i < 2 * K + 1 -> i++
		:: i > 1 -> break
		od;
		area[i] = 15;
		scribbled = true
	}
}
#endif

init {
	byte i;

	atomic {
		run command();
		do
		:: i < TRACEPOINTS -> i++; run tracepoint(i)
		:: else -> break
		od;
#ifdef SCRIBBLE
		run scribbler();
#endif
		i = 0
	}
}

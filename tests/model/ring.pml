/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ring's protocol (docs/format.md, "Ring"; the code is in src/ring/), for spin. This file has the ring, the
 * writers and what befalls them; reader.pml has the reader and the world; cases.sh has the cases and the broken variants.
 *
 * State, and who may change it
 *
 *   tail            position behind the last record and records in its packet, ONE word: a writer, in the last
 *                   step of a section. The store is the commit; nothing else is.
 *   words from the tail on, in the tail's packet, and all of the slot after it
 *                   any writer, in a section: scribbles of attempts that came to nothing stay there. Before the
 *                   first of them in a slot its packet's sequence goes.
 *   time_end, base_offset, base_time of the tail's packet
 *                   a writer, in a section. They too outlive an attempt that comes to nothing: time_end is then
 *                   later than the last record (harmless), base_offset is at the tail or beyond it (no base).
 *   the rest of a packet's header: the writer that opens the packet, before the commit of its first record.
 *   consumed        the stream reader, after it has copied.
 *   lost            anyone, by an atomic add.
 *   lock            locked rings: compare-and-swap to enter and to take over, a store to leave.
 *
 * Sections. SEC() is one machine step of a restartable sequence: it is taken only if no other process has run on this
 * CPU since the step before (cur[] says who ran last; a migration and a signal handler count as another process);
 * otherwise the writer finds itself at the beginning. It may also be sent there for no reason (the kernel preempted it
 * for a program that does not trace). A section's first step, and every step outside one, is an OUT(): it may always
 * be taken. In LOCKED builds both are plain steps, and the lock does what the kernel did. Writers of one CPU
 * interleave at every step; threads move between CPUs, and are killed, between any two steps; a handler starts
 * between any two, and its thread goes on when it has returned.
 *
 * What the assertions mean (CHECK's first word; a broken variant for each is in cases.sh)
 *
 *   exact     a record read is, word for word, the one that was committed under that number (events_before of its
 *             packet plus its place): not torn, not stale, not invented
 *   twice     numbers of the records read go up
 *   order     a ring's records are in the order of time
 *   decode    the full time that a reader reconstructs by the wrap rule is the time that the writer had
 *   window    no record is outside its packet's time_begin..time_end, and packets do not overlap in time
 *   count     every append that returned is a record or counted as lost, an append that died is at most one
 *             record, and the reader's numbers (read + overwritten) are the committed ones, exactly
 *   lostfull  a record is counted as lost for want of room only when the ring was full indeed
 *   steps     time is held still only where the clock did step back
 *   mutex     a lock is entered only if it was free or its owner is dead
 *   progress  when nothing moves any more, everybody who lives has finished; and no record is lost as busy while
 *             the owner of a lock is dead
 *
 * What is left out, and why that is sound
 *
 *   Sizes. Packets of 2-6 words, rings of 2-3 packets, a position that wraps after 1-2 laps, records of 1-2 words
 *   (2-3 extended), 2^32 is 2 ticks. The protocol compares, adds and masks; it has no case that needs larger ones.
 *   The sequence (64 bits) does not wrap, here or ever; the position (40 bits) does, here and there.
 *   Loads inside a section are not separate steps where nothing of this CPU can store between them: whoever does,
 *   restarts us. Words that only the opener of a packet stores are stored in three steps (times, events_before,
 *   sequence LAST: the worst case for a reader that looks at it), so a header can be half new in two ways.
 *   Memory order. Stores of one CPU become visible in program order, and a load is not taken before an earlier
 *   load (x86; the compiler is held by barriers). That store buffers delay them all alike is the same as a reader
 *   that is slower. A release store of the tail and an acquire load would be ENOUGH for what the tail covers, and
 *   NOT for a flight reader: that relies on the tail being visible before the scribbles that FOLLOW it, into other
 *   slots, and on the sequence being gone before the rest. On a weaker machine the switch needs a store fence before
 *   and after its first store; variants WEAK_STORES and NO_UNSEQ show what happens without. Writers of one CPU see their own stores in order anywhere; a
 *   thread that moves is ordered by the kernel's context switch, a lock's owner by the lock.
 *   Clock. One for all CPUs. It advances at reads only (elsewhere it makes no difference), may stay, and may step back.
 *   A dead thread's stores have all happened: the kernel does not end a thread before.
 */

/* Geometry and load: run.sh sets what a case needs. */
#ifndef N
#define N 2 /* slots */
#endif
#ifndef P
#define P 4 /* words per packet, the first is its header */
#endif
#ifndef LAPS
#define LAPS 2 /* laps until the position wraps; a stream reader needs 2 to tell full from empty */
#endif
#ifndef RINGS
#define RINGS 1
#endif
#ifndef TICKS
#define TICKS 2 /* the clock's largest value */
#endif
#ifndef TM
#define TM 16 /* 2^32 */
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef R1
#define R1 2 /* records that writer 1 emits */
#endif
#ifndef R2
#define R2 2
#endif
#ifndef R3
#define R3 1
#endif
#ifdef SAME
#define LEN(uid) SAME /* words of a compact record */
#else
#define LEN(uid) (1 + (uid) % 2)
#endif
#define WRAP (LAPS * N * P)
#define LOG 12
#define PIDS 8
#define REBORN_THREAD 3

#include "check.pml"

#ifndef EXACT
#define EXACT ALL
#endif
#ifndef TWICE
#define TWICE ALL
#endif
#ifndef ORDER
#define ORDER ALL
#endif
#ifndef DECODE
#define DECODE ALL
#endif
#ifndef WINDOW
#define WINDOW ALL
#endif
#ifndef COUNT
#define COUNT ALL
#endif
#ifndef LOSTFULL
#define LOSTFULL ALL
#endif
#ifndef STEPS
#define STEPS ALL
#endif
#ifndef MUTEX
#define MUTEX ALL
#endif
#ifndef PROGRESS
#define PROGRESS ALL
#endif
hidden byte exact = EXACT, twice = TWICE, order = ORDER, decode = DECODE, window = WINDOW, count = COUNT;
hidden byte lostfull = LOSTFULL, steps = STEPS, mutex = MUTEX, progress = PROGRESS;
#define W_restart 1
#define W_overwritten 2
#define W_discard 3
#define W_takeover 4
#define W_extended 5
#define W_held 6
#define W_lapped 7
#define W_busy 8
#define W_moved 9
#define W_nested 10
#define W_dead 11
#define W_wrapped 12
#define W_closed 13

/* The tail, one word. */
#define TAIL(pos, n) ((pos) * 16 + (n))
#define POS(t) ((t) / 16)
#define NUM(t) ((t) % 16)
#define IN(t) (POS(t) % P) /* 0: no packet is open */
#define LAST(t) ((POS(t) + WRAP - 1) % WRAP) /* the last word before the tail */
#define SLOT(pos) (((pos) / P) % N)
#define START(t) (LAST(t) - LAST(t) % P) /* of the packet that the tail's last record is in */

/* A word of a packet: what it is, then length, low half of the time, and whose record it belongs to. */
#define K_COMPACT 1
#define K_EXTENDED 2
#define K_CLOSED 3
#define K_PAYLOAD 4
#define K_TIME 5
#define WORD(kind, words, low, uid) ((kind) * 4096 + (words) * 256 + (low) * 16 + (uid))

typedef ring_t {
	short tail;
	short seen;	/* what the reader's CPU sees of the tail: the same, but with WEAK_STORES */
	byte lock;	/* uses of the lock so far * 8 + thread id of the owner, 0 if free */
	byte consumed;
	byte lost_full;
	short mem[N * P];
	byte seq[N]; /* the packets' headers; 255 before the first use */
	byte eb[N];
	byte tb[N];
	byte te[N];
	byte bt[N];
	byte bo[N];
	/* ghosts: what was committed, in order */
	byte logged;
	byte log_uid[LOG];
	byte log_time[LOG];
	byte filled; /* RESERVE: reservations filled */
	byte holder; /* pid inside the lock */
};
ring_t ring[RINGS];
byte lost_busy;

/* The machine. Threads are 0.., processes (the model's) are pids; a handler is a process of its thread. */
byte clock;
bool stepped;		/* it has stepped back at least once */
#ifndef BACKS
#define BACKS 0 /* how often it may */
#endif
byte backs = BACKS;
byte cpu[4];		/* of a thread */
byte cur[RINGS];	/* pid that ran last on a CPU, 0 if none of ours */
bool halt[PIDS];	/* may not run: dead, or interrupted by its handler */
bool dead[PIDS];
bool fin[PIDS];
bool gone[8];		/* no thread has this id: kill(tid, 0) says so */
byte running;		/* writers that have not finished and are not dead */
byte started;		/* appends begun */
byte completed;		/* appends that returned */

/* The sequence of the packet with the last record, in truth (ghost); -1 if there is none yet. */
#define last_sequence(r) (ring[r].tail == 0 -> -1 : ring[r].seq[SLOT(LAST(ring[r].tail))])
/* A lock's word is a count of uses above the owner's thread id: a word seen before is never seen again. */
#ifdef NO_USE_COUNT
#define NEXT_USE 0 /* broken: the thread id alone, which the kernel hands out again */
#else
#define NEXT_USE 8
#endif

inline read_clock(x)
{
	if
	:: clock < TICKS -> clock++
#ifdef JUMP
	:: clock + JUMP <= TICKS -> clock = clock + JUMP
#endif
#if BACKS
	:: backs > 0 && clock > 0 -> clock--; backs--; stepped = true
#endif
	:: true
	fi;
	x = clock
}

/* Time does not go back within a ring: a clock behind time_end (`end`) counts as time_end. */
inline hold(x, end)
{
	if
	:: x < end -> CHECK(steps, stepped); SEEN(held); x = end
	:: else
	fi
}

#ifdef LOCKED
#define SEC(...) atomic { __VA_ARGS__ }
#define OUT(...) atomic { __VA_ARGS__ }
#define RESTART CHECK(mutex, false); forget(); goto again /* under a lock it has not moved */
#else
#define RESTART forget(); goto again
#define SEC(...)                                                                                                   \
	if                                                                                                         \
	:: atomic { cur[cpu[th]] == _pid -> __VA_ARGS__ }                                                          \
	:: atomic { cur[cpu[th]] != _pid -> SEEN(restart); cur[cpu[th]] = _pid; RESTART }                          \
	:: atomic { cur[cpu[th]] == _pid -> RESTART }                                                              \
	fi
#define OUT(...) atomic { cur[cpu[th]] = _pid; __VA_ARGS__ }
#endif
#ifdef DETOUR
#define SWITCH(...) OUT(__VA_ARGS__) /* broken: outside the section's address range */
#else
#define SWITCH(...) SEC(__VA_ARGS__)
#endif

/* The record's word number i, to its place. */
inline fill_word()
{
	ring[r].mem[slot * P + in + i] =
		(i == 0 -> WORD(K_COMPACT + ext, words, now % TM, uid) :
		(i == 1 && ext -> WORD(K_TIME, 0, 0, now) : WORD(K_PAYLOAD, 0, 0, uid)));
	i++
}

/* The commit: one store. The ghosts note what readers have to find from now on. */
inline commit()
{
	ring[r].tail = TAIL((start + in + words + ext) % WRAP, n + 1);
#ifndef WEAK_STORES
	ring[r].seen = ring[r].tail;
#endif
	ring[r].log_uid[ring[r].logged] = uid;
	ring[r].log_time[ring[r].logged] = now;
	ring[r].logged++;
	if
	:: ext -> SEEN(extended)
	:: else
	fi
}

/* The lock is ours (ghost). */
inline enter()
{
	CHECK(mutex, ring[r].holder == 0 || dead[ring[r].holder]);
	ring[r].holder = _pid
}

/* Locals of an attempt; cleared so that attempts that differ in nothing else are one state. */
inline forget()
{
	ext = 0; in = 0; slot = 0; to = 0; start = 0; now = 0; s = 0; e = 0; i = 0; n = 0; old = 0; room = false
}

/*
 * A writer: `left` appends of thread th, records uid, uid + 1, ... A handler first waits for its moment, any moment,
 * and stops the process it interrupts (parent) until it returns; it may also never come.
 */
proctype writer(byte th; byte tid; byte uid; byte left; byte parent) provided(!halt[_pid])
{
	byte r;	   /* ring */
	byte words, ext, in, slot, to, start, now, e, i, n, k, lk;
	short old, s;
	bool room;

	if
	:: parent == 0 && th != REBORN_THREAD
#ifdef HANDLER
	:: atomic { parent != 0 && fin[parent] -> left = 0 }
	:: atomic { parent != 0 && !fin[parent] && !halt[parent] -> halt[parent] = true; SEEN(nested) }
#endif
#ifdef REBORN
	/* a new thread that is given the id of one that died */
	:: atomic { th == REBORN_THREAD && gone[tid] -> gone[tid] = false }
	:: atomic { th == REBORN_THREAD && fin[1] -> left = 0 }
#endif
	fi;
	do
	:: atomic {
		left > 0 ->
		left--;
		started++;
		words = LEN(uid)
	   };
#ifdef LOCKED
	   /* Try-lock, ring after ring, beginning with one's own. */
	   k = 0;
	   r = th % RINGS;
try:	   atomic {
		lk = ring[r].lock;
		if
		:: lk % 8 == 0 -> ring[r].lock = lk + NEXT_USE + tid; enter(); goto again
#ifdef OWN_LOCK_FREE
		:: lk % 8 == tid -> enter(); goto again /* broken: a handler takes its own thread's lock for free */
#endif
		:: lk % 8 == tid && parent == 0 -> goto take /* not nested: left by a thread that had our id */
		:: else
		fi
	   };
	   /* kill(tid, 0) */
	   atomic {
		if
#ifdef STEAL_LIVE
		:: true /* broken: does not ask */
#else
#ifndef NO_TAKEOVER
		:: gone[lk % 8]
#endif
		:: else -> CHECK(progress, ring[r].lock != lk || !dead[ring[r].holder]); goto busy
#endif
		fi
	   };
take:	   atomic {
		if
		:: ring[r].lock == lk -> ring[r].lock = lk - lk % 8 + NEXT_USE + tid; SEEN(takeover); enter(); goto again
		:: else -> goto busy
		fi
	   };
busy:	   atomic {
		k++;
		if
		:: k < RINGS -> r = (r + 1) % RINGS; goto try
		:: else
		fi;
		SEEN(busy);
		lost_busy++;
		goto returns
	   };
#endif

again:	   OUT(
#ifndef LOCKED
		r = cpu[th];
#endif
#if defined(CLOCK_OUTSIDE) || defined(CLOCK_EARLY)
		read_clock(now);
#endif
#ifdef CLOCK_OUTSIDE
		old = ring[r].tail;
		slot = SLOT(LAST(old));
		hold(now, ring[r].te[slot]);
#endif
		skip
	   );

	   /* The section: first, clock, [base], end, words, commit. */
first:	   OUT( /* to enter is no reason to restart */
#if !defined(LOCKED) && !defined(NO_CPU_COMPARE)
		if
		:: cpu[th] != r -> SEEN(moved); RESTART
		:: else
		fi;
#endif
		old = ring[r].tail;
		in = IN(old);
		start = START(old);
		slot = SLOT(start);
		n = NUM(old);
		if
		:: in == 0 || in + words + ext > P -> goto noroom
		:: else
		fi);
	   SEC(
#if !defined(CLOCK_OUTSIDE) && !defined(CLOCK_EARLY)
		read_clock(now);
#endif
#if !defined(NO_HOLD) && !defined(CLOCK_OUTSIDE)
		hold(now, ring[r].te[slot]);
#endif
		if
		:: ext -> goto base
		:: !ext && now - ring[r].bt[slot] >= TM -> ext = 1; goto first
#ifndef BASE_UNCHECKED
		:: !ext && now - ring[r].bt[slot] < TM && ring[r].bo[slot] >= in -> ext = 1; goto first
#endif
		:: else -> goto stamp
		fi);
#ifdef BASE_TIME_FIRST
base:	   SEC(ring[r].bt[slot] = now);
	   SEC(ring[r].bo[slot] = in);
#else
base:	   SEC(ring[r].bo[slot] = in); /* from here on until the commit, the packet has no valid base */
	   SEC(ring[r].bt[slot] = now);
#endif
stamp:
#ifndef END_LATE
	   SEC(ring[r].te[slot] = now);
#endif
	   goto fill;

	   /* No room: what the next packet's header needs, outside, from the tail that was seen. */
noroom:	   OUT(to = SLOT((start + P) % WRAP);
		if
		:: old == 0 -> s = -1; e = 0; to = 0; start = WRAP - P
#ifdef BEFORE_FIRST
		:: else -> e = ring[r].eb[slot] + n
		fi);
	   OUT(if
		:: old == 0
		:: else -> s = ring[r].seq[slot]
		fi);
#else
		:: else -> s = ring[r].seq[slot]
		fi);
	   /* The sequence first: if it still is the same in the section, what was read after it is of that packet. */
	   OUT(if
		:: old == 0
		:: else -> e = ring[r].eb[slot] + n
		fi);
#endif
#ifdef STREAM
	   OUT(room = true; /* ghost: was it full in truth? */
		if
		:: last_sequence(r) + 1 - ring[r].consumed >= N -> room = false
		:: else
		fi;
		if
		:: s + 1 - ring[r].consumed >= N || s + 1 < ring[r].consumed /* unsigned, as in C */
		:: else -> goto second
		fi);
#ifndef NO_FULL_RECHECK
	   /* What was read may be of several moments: it is worth counting only if the tail has not moved. */
	   OUT(if
		:: ring[r].tail != old -> RESTART
		:: else
		fi);
#endif
#ifdef LOST_PLAIN
	   OUT(CHECK(lostfull, !room); k = ring[r].lost_full);
	   OUT(ring[r].lost_full = k + 1; k = 0; goto leave);
#else
	   OUT(CHECK(lostfull, !room); SEEN(discard); ring[r].lost_full++; goto leave);
#endif
#endif

	   /* The section of a switch: second, [closed], clock, header, words, commit. */
second:	   OUT(
#if !defined(LOCKED) && !defined(NO_CPU_COMPARE)
		if
		:: cpu[th] != r -> SEEN(moved); RESTART
		:: else
		fi;
#endif
#ifndef NO_TAIL_COMPARE
		if
		:: ring[r].tail != old -> RESTART
		:: else
		fi;
#endif
#ifndef NO_SEQ_COMPARE
		if
		:: old != 0 && ring[r].seq[slot] != s -> SEEN(wrapped); RESTART
		:: else
		fi;
#endif
		if
		:: in == 0 -> goto open
		:: else
		fi);
	   SWITCH(SEEN(closed);
#ifndef NO_CLOSED
		ring[r].mem[slot * P + in] = WORD(K_CLOSED, 0, 0, 0)
#endif
		);
open:	   SWITCH(
#if !defined(CLOCK_OUTSIDE) && !defined(CLOCK_EARLY)
		read_clock(now);
#endif
#if !defined(NO_HOLD) && !defined(SWITCH_NO_HOLD) && !defined(CLOCK_OUTSIDE)
		/* the packet before is the ring's last (its sequence says so), and so is its time_end */
		if
		:: old != 0 -> hold(now, ring[r].te[slot])
		:: else
		fi;
#endif
		skip);
#ifndef NO_UNSEQ
	   SWITCH(ring[r].seq[to] = 255); /* it is no packet any more, before anything else there changes */
#endif
	   SWITCH(ring[r].tb[to] = now; ring[r].te[to] = now; ring[r].bt[to] = now; ring[r].bo[to] = 0);
	   SWITCH(ring[r].eb[to] = e);
	   SWITCH(ring[r].seq[to] = s + 1; slot = to; start = (start + P) % WRAP; in = 1; n = 0; ext = 0);

fill:
#if defined(PUBLISH_FIRST) || defined(RESERVE)
	   SEC(commit());
#endif
#ifdef RESERVE
more:	   OUT(fill_word();
#else
more:	   SEC(fill_word();
#endif
		if
		:: i < words + ext -> goto more
		:: else
		fi);
#ifdef RESERVE
	   OUT(ring[r].filled++; goto leave);
#endif
#ifndef PUBLISH_FIRST
	   SEC(commit());
#endif
#ifdef END_LATE
	   OUT(ring[r].te[slot] = now);
#endif

leave:
#ifdef LOCKED
	   atomic {
		ring[r].holder = 0;
		ring[r].lock = ring[r].lock - ring[r].lock % 8 /* keeps the count of uses */
	   };
#endif
returns:   atomic {
		completed++;
		uid++;
		forget();
		r = 0; words = 0; k = 0; lk = 0
	   }
	:: atomic { left == 0 -> break }
	od;
	atomic {
		fin[_pid] = true;
		running--;
		if
		:: parent != 0 -> halt[parent] = dead[parent]
		:: else
		fi
	}
}

#include "reader.pml"

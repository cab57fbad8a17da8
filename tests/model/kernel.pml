/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rings of the kernel's programs (kernel_ring.h, kernel_append_steps.h and kernel_append_c.h in src/source/kernel/in_kernel), for
 * spin: how programs share them, how one appends, how the recorder reads, stops them and appends itself.
 *
 * State, and who may change it
 *
 *   lock            a program that finds it 0, by compare-and-exchange; 0 again by a store.
 *   own[], seen[]   the words of a ring as the CPU of its programs sees them, and as others do: tail, losses, headers, packets. They differ
 *                   in WEAK builds only. The program that holds the lock stores them; after the end, the recorder.
 *   losses          anyone, by an atomic add.
 *   ready           the recorder: programs may append. A program looks at it once it holds the lock.
 *   consumed        the stream reader, after it has copied.
 *   next, events, base, last   of a ring: the program that holds its lock; after the end, the recorder.
 *
 * Programs of one CPU interleave at every step: one that interrupts is a case of that, one that preempts the general one. A program cannot
 * die, nor change its CPU. The recorder may be killed at any step (KILL); then programs go on until the kernel detaches them, at any moment.
 *
 * Stores. x86: others see them in their order. WEAK: in any order, but an exchange (or another atomic operation that returns a value) comes
 * after all before it and before all behind it; the CPU itself sees its own in order. That all stores are seen late, each
 * in its turn, is the same as a reader that looks earlier.
 *
 * The assertions (CHECK's first word)
 *
 *   exact     a record read is, word for word, the one that was committed under that number; a look finds the sequence of the tail's packet
 *   twice     numbers of the records read go up
 *   order     a ring's records are in the order of time
 *   decode    the full time that a reader reconstructs from a packet's base is the time that the program had
 *   count     every append is a record, or counted as lost, or came after the end. The reader's numbers
 *             (read + overwritten) are the committed ones. A header's losses are those of a moment between the packet before and now.
 *             When the recorder finds all locks free, it sees all that was appended or lost before the end began
 *   lostfull  a record is counted as lost for want of room only when the ring was full
 *   kept      what was not given back, or lies in the last N packets of a flight recorder, is in the ring when nothing moves any more
 *   mutex     a ring has one writer at a time, also when the recorder is one
 *   handed    the recorder that finds a lock free after the end sees all stores to that ring
 *   progress  when nothing moves any more, all programs have returned; also if the recorder is dead
 *
 * The omissions, and why they are sound
 *
 *   ring.pml has shown what readers do with a position that wraps; the reader is the same (src/ring/copy.c). Programs compare no
 *   positions: they have a sequence of 64 bits, which does not wrap. So neither wraps here.
 *   Loads of a reader are in program order: its acquire fences. Loads of a program under its lock are of words that only it stores, but
 *   for `consumed`; stores behind it depend on it.
 *   Sizes: packets of 3 words, 2-3 packets, records of 1-2 words. A packet that closes early since another program's longest record would not
 *   fit is one that closes for its time.
 *   All programs are of one CPU: those of other CPUs have other rings.
 *   bpf_missed(): what the kernel leaves out never gets here.
 */
#include "check.pml"

#ifndef N
#define N 3 /* packets */
#endif
#ifndef P
#define P 3 /* words of a packet, the first is its header */
#endif
#ifndef DEPTHS
#define DEPTHS 1 /* rings */
#endif
#ifndef R1
#define R1 2 /* records of program 1 */
#endif
#ifndef R2
#define R2 2
#endif
#ifndef R3
#define R3 0
#endif
#ifndef ENDS
#define ENDS 0 /* records that the recorder appends after the end */
#endif
#ifndef TICKS
#define TICKS 0 /* the clock's largest value */
#endif
#ifndef BACKS
#define BACKS 0 /* how often it steps back */
#endif
#ifndef TM
#define TM 8 /* 2^32 */
#endif
#define REACH (TM - 1)
#ifdef NO_REACH
#define IS_REACHED(r, time) true /* broken: a packet goes on whatever the time */
#else
#define IS_REACHED(r, time) ((time) - ring[r].base <= REACH)
#endif
#define LEN(uid) (1 + (uid) % 2)
#define LOG 8 /* records of a ring */

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
#ifndef COUNT
#define COUNT ALL
#endif
#ifndef LOSTFULL
#define LOSTFULL ALL
#endif
#ifndef KEPT
#define KEPT ALL
#endif
#ifndef MUTEX
#define MUTEX ALL
#endif
#ifndef HANDED
#define HANDED ALL
#endif
#ifndef PROGRESS
#define PROGRESS ALL
#endif
hidden byte exact = EXACT, twice = TWICE, order = ORDER, decode = DECODE, count = COUNT;
hidden byte lostfull = LOSTFULL, kept = KEPT, mutex = MUTEX, handed = HANDED, progress = PROGRESS;
#define W_nested 1
#define W_busy 2
#define W_full 3
#define W_lapped 4
#define W_reached 5
#define W_held 6
#define W_refused 7
#define W_appended 8
#define W_disordered 9
#define W_orphaned 10

/* The tail, one word: position in words, and records in its packet. */
#define TAIL(pos, n) ((pos) * 8 + (n))
#define POS(t) ((t) / 8)
#define NUM(t) ((t) % 8)
#define SEQUENCE(t) ((POS(t) - 1) / P) /* of the packet with the last record */

/* A word of a packet: what it is, words of the record, low half of the time, and whose record it is. 0: nothing yet. */
#define K_RECORD 1
#define K_CLOSED 2
#define K_FIELD 3
#define WORD(kind, words, low, uid) ((kind) * 1024 + (words) * 256 + (low) * 16 + (uid))
#define KIND(x) ((x) / 1024)
#define LENGTH(x) ((x) / 256 % 4)
#define LOW(x) ((x) / 16 % 16)
#define UID(x) ((x) % 16)

/* The words of a ring: the slots' headers (sequence, 255 if none; events_before; base_time; losses), and the packets. */
#define THE_TAIL 0
#define THE_LOCK 1
#define THE_FULL 2 /* lost */
#define THE_BUSY 3
#define SEQ(k) (4 + (k))
#define EB(k) (4 + N + (k))
#define BASE(k) (4 + 2 * N + (k))
#define LOST(k) (4 + 3 * N + (k))
#define MEM(j) (4 + 4 * N + (j) % (N * P))
#define WORDS (4 + 4 * N + N * P)
#define PLACE(r, i) ((r) * WORDS + (i))

short own[DEPTHS * WORDS];
#ifdef WEAK
short seen[DEPTHS * WORDS];
#define VIEW(r, i) seen[PLACE(r, i)]
#define SETTLED(r) (settled == 0) /* others see all stores to the ring */
byte settled; /* words that others do not see yet */
#else
#define VIEW(r, i) own[PLACE(r, i)]
#define SETTLED(r) true
#endif
#define OWN(i) own[PLACE(r, i)]

byte consumed[DEPTHS];
bool ready[DEPTHS];
typedef ring_t {
	byte next;
	byte events;
	byte base;
	byte last;
	/* ghosts: what was committed, in order, and the writer */
	byte logged;
	byte log_uid[LOG];
	byte log_time[LOG];
	byte log_pos[LOG];
	byte holder;
};
ring_t ring[DEPTHS];

byte clock;
#if BACKS
byte backs = BACKS;
#endif
byte running;	/* programs that have not finished */
byte started;	/* appends begun */
byte completed; /* appends that returned, ... */
byte refused;	/* ... those before the begin or after the end */
byte before;	/* ... of those, the ones that had returned when the end began */
bool ended;	/* the recorder has found all locks free, and appended what it had */
bool dead;	/* the recorder */
bool detached;	/* programs do not begin any more */
byte readers;

/* A store, of which others learn some time. */
inline plain(i, x)
{
#ifdef WEAK
	settled = settled - (own[PLACE(r, i)] != seen[PLACE(r, i)]) + ((x) != seen[PLACE(r, i)]);
#endif
	own[PLACE(r, i)] = (x)
}

/* An exchange, or an addition that returns the value before: a barrier. */
inline exchange(i, x)
{
	own[PLACE(r, i)] = (x);
	flush()
}

inline flush()
{
#ifdef WEAK
	settled = 0;
	f = 0;
	do
	:: f < DEPTHS * WORDS -> seen[f] = own[f]; f++
	:: else -> break
	od;
	f = 0
#else
	skip
#endif
}

#ifdef PLAIN_UNSEQ
#define STORE_UNSEQ plain /* broken elsewhere than on x86 */
#else
#define STORE_UNSEQ exchange
#endif
#ifdef PLAIN_SEQUENCE
#define STORE_SEQUENCE plain /* right: readers come by the tail */
#else
#define STORE_SEQUENCE exchange
#endif
#ifdef PLAIN_TAIL
#define STORE_TAIL plain /* broken elsewhere than on x86 */
#else
#define STORE_TAIL exchange
#endif
#ifdef PLAIN_LOST
#define STORE_LOST plain /* broken elsewhere than on x86: an addition that returns nothing is no barrier */
#else
#define STORE_LOST exchange
#endif

inline read_clock(x)
{
	if
	:: clock < TICKS -> clock++
	:: clock + 1 < TICKS -> clock = clock + 2
#if BACKS
	:: backs > 0 && clock > 0 -> backs--; clock--
#endif
	:: true
	fi;
	x = clock
}

/* The ring is ours (ghost). */
inline enter()
{
	CHECK(mutex, ring[r].holder == 0);
	ring[r].holder = _pid
}

inline leave()
{
	ring[r].holder = 0;
	plain(THE_LOCK, 0)
}

/* The commit: one store. The ghosts note what readers have to find from now on. */
inline commit()
{
	STORE_TAIL(THE_TAIL, TAIL(at + words, n + 1));
	ring[r].log_uid[ring[r].logged] = uid;
	ring[r].log_time[ring[r].logged] = now;
	ring[r].log_pos[ring[r].logged] = at;
	ring[r].logged++
}

inline stamp()
{
	read_clock(now)
}

inline hold()
{
#ifndef NO_HOLD
	if
	:: now < ring[r].last -> SEEN(held); now = ring[r].last
	:: else
	fi;
#endif
	ring[r].last = now
}

/* A program, which appends `left` records uid, uid + 1, ...; or the recorder, which stops all others first, and has no lock. */
proctype program(byte uid; byte left; bool recorder)
{
	byte r, words, at, n, now, s, slot, i;
	byte f; /* flush() */

	if
	:: !recorder
#ifdef KILL
	:: atomic { recorder -> dead = true; goto killed };
#else
	:: atomic { recorder -> before = completed; skip };
#if defined(STATE_LATE) /* broken: its store is seen after its look at the locks */
	   goto locks;
state:
#endif
	   do
	   :: atomic { r < DEPTHS -> ready[r] = false; r++ }
	   :: atomic { r == DEPTHS -> r = 0; break }
	   od;
#if defined(STATE_LATE)
	   goto stopped;
#endif
locks:
#ifndef NO_WAIT /* broken: does not wait for the locks */
	   do
	   :: atomic { r < DEPTHS && VIEW(r, THE_LOCK) == 0 -> CHECK(handed, SETTLED(r)); r++ }
	   :: atomic { r == DEPTHS -> r = 0; break }
	   od;
#endif
#if defined(STATE_LATE)
	   goto state;
#endif
stopped:   atomic {
		/* all that was before the end */
		n = 0;
		do
		:: r < DEPTHS -> n = n + ring[r].logged + VIEW(r, THE_FULL) + VIEW(r, THE_BUSY); r++
		:: else -> break
		od;
		CHECK(count, n >= before);
		r = 0;
		n = 0;
		before = 0
	   }
#endif
	fi;
	do
	:: atomic {
		left > 0 && (!detached || recorder) ->
		left--;
		started++;
		words = LEN(uid);
		if
		:: recorder -> SEEN(appended); enter(); goto append
		:: else
		fi
	   };

	   /* Take the first ring that no other program holds. */
#ifdef CLOCK_EARLY
	   atomic { stamp() }; /* broken: before the ring is taken; not held back either */
#endif
try:
#ifdef STATE_EARLY
	   atomic {
		if
		:: !ready[r] -> refused++; goto returns /* broken: looks before it has the lock */
		:: else
		fi
	   };
#endif
#ifdef TAKE_PLAIN
	   atomic { i = OWN(THE_LOCK) }; /* broken: load, compare and store */
	   atomic {
		if
		:: i == 0 -> i = 0; exchange(THE_LOCK, 1); goto taken
		:: else -> i = 0
		fi;
#else
	   atomic {
		if
#ifdef NOT_REFUSED
		:: true -> exchange(THE_LOCK, 1); goto taken /* broken: a nested program does not care */
#else
		:: OWN(THE_LOCK) == 0 ->
			if
			:: r > 0 -> SEEN(nested)
			:: else
			fi;
			exchange(THE_LOCK, 1);
			goto taken
#endif
		:: else
		fi;
#endif
		r++;
		if
		:: r < DEPTHS -> goto try
		:: else -> r = 0
		fi
	   };
#ifdef LOST_TWO_STEPS
	   atomic { i = OWN(THE_BUSY) }; /* broken: no atomic addition */
	   atomic { plain(THE_BUSY, i + 1); i = 0; goto returns };
#else
	   atomic { SEEN(busy); STORE_LOST(THE_BUSY, OWN(THE_BUSY) + 1); goto returns };
#endif
taken:	   atomic {
#ifndef STATE_EARLY
		if
		:: !ready[r] -> SEEN(refused); refused++; plain(THE_LOCK, 0); goto returns
		:: else
		fi;
#endif
		enter()
	   };

	   /* kernel_locate() */
append:	   atomic {
#ifndef CLOCK_EARLY
		stamp();
		hold();
#endif
		at = POS(OWN(THE_TAIL));
		n = NUM(OWN(THE_TAIL));
		if
		:: at % P != 0 && at % P + words <= P && IS_REACHED(r, now) -> goto fill
		:: at % P != 0 && at % P + words <= P && !IS_REACHED(r, now) -> SEEN(reached)
		:: else
		fi;

		/* kernel_open_packet() */
		s = ring[r].next;
		slot = s % N;
#ifdef EVENTS_EARLY
		ring[r].events = ring[r].events + n; /* broken: also if there is no room, and then again */
#endif
#ifdef STREAM
		if
#if defined(NO_CONSUMED)
		:: false /* broken: "consumed" is not compared */
#elif defined(FULL_EARLY)
		:: s - consumed[r] >= N - 1 -> CHECK(lostfull, s - consumed[r] >= N); goto noroom /* broken: one packet is left */
#elif defined(FULL_LATE)
		:: s - consumed[r] > N -> goto noroom /* broken: one packet too many */
#else
		:: s - consumed[r] >= N -> SEEN(full); goto noroom
#endif
		:: else
		fi;
#endif
#ifndef EVENTS_EARLY
		ring[r].events = ring[r].events + n;
#endif
		n = 0;
		if
		:: at % P == 0 -> goto header
		:: else
		fi
	   };
#ifndef NO_CLOSED /* broken: the rest of the old packet has stale bytes */
	   atomic { plain(MEM(at), WORD(K_CLOSED, 0, 0, 0)) };
#endif
header:
#if defined(PUBLISH_EARLY) /* broken: the tail before the header */
	   atomic { at = s * P + 1; commit() };
#endif
#if defined(STREAM) || defined(NO_UNSEQ) /* broken: the slot changes while it has the old packet's sequence */
#elif defined(SEQUENCE_FIRST) /* right: readers come by the tail, and the old sequence is gone */
	   atomic { STORE_UNSEQ(SEQ(slot), s) };
#else
	   atomic { STORE_UNSEQ(SEQ(slot), 255) };
#endif
	   atomic { plain(BASE(slot), now) };
	   atomic {
		plain(EB(slot), ring[r].events);
		plain(LOST(slot), OWN(THE_FULL) + OWN(THE_BUSY))
	   };
	   atomic {
		STORE_SEQUENCE(SEQ(slot), s);
		ring[r].base = now;
		ring[r].next = s + 1;
		at = s * P + 1
	   };

	   /* The fields, then the record's header; then the tail. */
fill:
#if defined(PUBLISH_FIRST) /* broken: the tail before the record */
	   atomic { commit() };
#endif
	   atomic {
		i = words - 1;
		if
		:: i == 0 -> goto head
		:: else
		fi;
		plain(MEM(at + i), WORD(K_FIELD, 0, 0, uid))
	   };
head:	   atomic { i = 0; plain(MEM(at), WORD(K_RECORD, words, now % TM, uid)) };
#if !defined(PUBLISH_FIRST) && !defined(PUBLISH_EARLY)
	   atomic { commit() };
#endif
	   goto release;

	   /* No room. */
noroom:	   atomic {
		STORE_LOST(THE_FULL, OWN(THE_FULL) + 1);
#ifdef NO_RELEASE
		ring[r].holder = 0;
		goto returns /* broken: a way out that does not release the ring */
#endif
	   };
release:   atomic { leave() };
returns:   atomic { completed++; uid++; r = 0; words = 0; at = 0; n = 0; now = 0; s = 0; slot = 0; i = 0 }
	:: atomic { left == 0 || (detached && !recorder) -> break }
	od;
	if
	:: recorder -> ended = true
	:: else
	fi;
	goto finished;
killed:	skip; /* the kernel needs its time to detach them */
	detached = true;
finished: atomic { running--; uid = 0; left = 0 }
}

#include "kernel_reader.pml"

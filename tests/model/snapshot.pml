/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Snapshots: a reader that copies a ring it does not own (docs/design/trace.md), for spin. It stores nothing. Writers go on;
 * in stream mode a recorder may be draining the same ring and give packets back. Somebody may resize the ring meanwhile.
 *
 * What is abstracted from ring.pml, and why that is sound
 *
 *   One writer. ring.pml has shown that the writers of a ring exclude each other, and that what they leave behind are
 *   attempts that came to nothing. So here one process makes all attempts, in the order of stores that ring.pml has,
 *   and may drop one after any store; it may scribble on whatever its section could reach. Death is a process
 *   that does not move: the reader's checks do not wait for anybody.
 *   Records are one word, their number (from 1). A packet may be closed before it is full, as a longer record would do.
 *   Times and bases do not matter to what is alive.
 *   The recorder's look is one step (it is that of ring.pml's reader); its copy is not.
 *   The position wraps after LAPS laps; the sequence does not.
 *   The size. An attempt loads the tail, then the size, and comes to something only if the tail is still the same. So it
 *   may go by any size that was in force since the tail last moved (`sizes`); several attempts by several.
 *   Memory that was given back is words of garbage and no sequence. That writers ask for it before they use it, and how
 *   they know, is not in here.
 *   Loads of a reader are in program order: its acquire fences. A load of `consumed` that is taken before the copy is
 *   the variant CONSUMED_BEFORE.
 *
 * The snapshot. For one packet after the other, from the oldest alive:
 *
 *   look    stream: `consumed`, which may move the cursor. Then tail, sequence of its packet, tail again.
 *   copy    the header, and the words below the tail or to the packet's end.
 *   again   flight: the sequence in the slot is still the packet's. A writer takes it away before anything else there.
 *           stream: `consumed` has not passed the packet. Nothing else: writers keep off what was not given back.
 *   count   what was verified is kept. What lies before it and was not kept is counted as lost, from events_before.
 *
 * It ends with a packet that was the tail's in the look, or that is not before the one which was the tail's at the first.
 *
 *   exact     each record kept is the one committed under its number
 *   twice     numbers go up
 *   count     between packets that follow each other nothing is lost; kept + lost reaches at least as far as what was
 *             committed before the snapshot began; the tail's packet gives as many records as the tail says
 *   kept      only what was taken is lost: flight, by a writer or by a shorter lap; stream, given back
 *   recorder  the recorder beside it gets every record, once, in order
 *   whole     memory is given back only of what is not needed: no packet is opened, or open, there
 *
 * The resizer (src/control/resize_rings.c) stores a size; then, when the slot behind the tail's is within it and, in stream mode,
 * the lap before has been given back, it takes away the sequences of the slots beyond, and then their memory.
 */
#include "check.pml"

#ifndef N
#define N 3 /* slots */
#endif
#ifndef P
#define P 2 /* words per packet, the header apart; at most 3 */
#endif
#ifndef LAPS
#define LAPS 2 /* laps until the position wraps */
#endif
#ifndef R
#define R 8 /* records that are written */
#endif
#ifndef RESIZES
#define RESIZES 0 /* times that the size changes, to any from 2 to N */
#endif
#ifndef SNAPSHOTS
#define SNAPSHOTS 1
#endif

#ifndef EXACT
#define EXACT ALL
#endif
#ifndef TWICE
#define TWICE ALL
#endif
#ifndef COUNT
#define COUNT ALL
#endif
#ifndef KEPT
#define KEPT ALL
#endif
#ifndef RECORDER
#define RECORDER ALL
#endif
#ifndef WHOLE
#define WHOLE ALL
#endif
hidden byte exact = EXACT, twice = TWICE, count = COUNT, kept = KEPT, recorder = RECORDER, whole = WHOLE;
#define W_lapped 1
#define W_taken 3
#define W_lost 4
#define W_full 5
#define W_shorter 6
#define W_longer 7
#define W_punched 8
#define W_stray 9

#define PLACES (LAPS * N) /* of packets, until the position wraps */
/* The tail, one word: place of its packet, and records in it; 0 before the first. */
#define TAIL(at, n) ((at) * 4 + (n))
#define AT(t) ((t) / 4)
#define NUM(t) ((t) % 4)
#define SLOT(at) ((at) % N)
#define CLOSED 100
#define SCRIBBLE 101

byte tail;
byte consumed;
byte mem[N * P];
byte seq[N]; /* headers */
byte eb[N];
byte lap[N]; /* packets of the lap before */
byte size = N;
byte sizes = 1 << N; /* those in force since the tail last moved, a bit for each */
byte to;	     /* the packet that the attempt at hand opens: its place, ... */
byte before;	     /* ... its lap[] */
byte given_up;	     /* ghost: packets before this one were given up for a shorter lap */
byte punching = 255; /* ghost: slots from this one on are given back just now */
byte logged; /* ghost: records committed; their numbers are 1.. */

/* Where the writer is: the tail's packet, and the one to open. */
#define HERE SLOT(AT(tail))
#define THERE SLOT(to)
#define NEXT_SEQ (NUM(tail) == 0 -> 0 : seq[HERE] + 1)
#define FIRST (seq[HERE] - HERE) /* packet of this lap */
#ifndef STREAM
#define ROOM true
#elif defined(FULL_BY_WINDOW)
#define ROOM (NEXT_SEQ - consumed < N) /* broken: as if all laps were of the window's length */
#else
#define ROOM (NEXT_SEQ - consumed < (THERE < before -> before : THERE + 1))
#endif

/* Packets that are there, by a look at the tail's: in slot k, the lap before had l. */
#ifdef STREAM
#define PRESENT(k, l) ((l) > (k) + 1 -> (l) : (k) + 1)
#else
#define PRESENT(k, l) ((l) > (k) + 1 && (l) <= size -> (l) : (k) + 1)
#endif
/* The slot of the packet that is `back` before the tail's. */
#ifdef LAP_BLIND
#define SLOT_OF(k, l, back) (((k) + 2 * N - (back)) % N) /* broken: as if all laps were of the window's length */
#else
#define SLOT_OF(k, l, back) ((back) <= (k) -> (k) - (back) : ((l) + (k) - (back)) % N)
#endif

/* The packet after the tail's, by size z. */
inline choose(z)
{
	if
	:: NUM(tail) == 0 -> to = 0; before = 0
	:: NUM(tail) != 0 && HERE + 1 < z -> to = (AT(tail) + 1) % PLACES; before = lap[HERE]
	:: NUM(tail) != 0 && HERE + 1 >= z -> to = ((AT(tail) / N + 1) * N) % PLACES; before = HERE + 1
	fi
}

/* A lap of more packets than the ring has slots now is given up in flight mode, and with it what is older. */
inline give_up(first)
{
	if
	:: first > given_up -> given_up = first
	:: else
	fi
}

/* One store of an attempt, which may also come to nothing before it. */
#define STORE(...)                                                                                                 \
	if                                                                                                         \
	:: atomic { __VA_ARGS__ }                                                                                  \
	:: goto again                                                                                              \
	fi

proctype writer()
{
	/* Into the tail's packet, or close it (before it is full, too) and open the next. */
	byte z;

again:	atomic {
		to = 0; before = 0; z = N;
		/* by which size; without resizing there is one */
		do
		:: z > 2 && (sizes & ((1 << z) - 1)) -> z--
		:: sizes & (1 << z) -> break
		od;
		choose(z);
		z = 0;
	if
	:: logged < R && NUM(tail) % P != 0 -> to = 0; before = 0; mem[HERE * P + NUM(tail)] = logged + 1; goto commit
	:: logged < R && NUM(tail) % P != 0 -> mem[HERE * P + NUM(tail)] = SCRIBBLE; goto again
	:: logged < R && NUM(tail) % P != 0 && ROOM -> mem[HERE * P + NUM(tail)] = CLOSED
	:: logged < R && NUM(tail) % P == 0 && ROOM -> goto header
	:: logged < R && !ROOM -> SEEN(full); goto again
	:: logged == R -> goto done
	fi
	};
header:
#ifndef NO_UNSEQ /* broken: others may not know what is done to the packet in the slot */
	STORE(seq[THERE] = 255);
#endif
	STORE(CHECK(whole, THERE < punching); eb[THERE] = logged);
	STORE(lap[THERE] = before; seq[THERE] = NEXT_SEQ);
	if
	:: atomic { mem[THERE * P] = logged + 1 }
	:: atomic { mem[THERE * P + P - 1] = SCRIBBLE; goto again } /* of a longer record */
	:: goto again
	fi;
	STORE(CHECK(whole, THERE < punching);
		if
		:: THERE + 1 > size -> SEEN(stray)
		:: else
		fi;
		if
		:: before > size -> give_up(seq[THERE] - THERE)
		:: else
		fi;
		tail = TAIL(to, 1); logged++; sizes = 1 << size);
	goto again;
commit:	STORE(tail = tail + 1; logged++; sizes = 1 << size);
	goto again;
done:	skip
}

#ifdef PUNCH_EARLY
#define LEFT true /* broken: the tail may be there still */
#elif defined(PUNCH_NEXT)
#define LEFT (HERE < size) /* broken: by an older size the slot behind the tail's can still be opened */
#else
#define LEFT (HERE + 1 < size)
#endif
#if defined(STREAM) && !defined(PUNCH_UNREAD)
#define READ (consumed >= FIRST)
#else
#define READ true
#endif

#if RESIZES
proctype resizer()
{
	byte left = RESIZES, z;

	do
	:: atomic {
		left > 0 ->
		left--;
		z = 2;
		do
		:: z < N -> z++
		:: z != size -> break
		od;
		if
		:: z < size -> SEEN(shorter)
		:: z > size && NUM(tail) != 0 && lap[HERE] != 0 -> SEEN(longer)
		:: else
		fi;
		size = z;
		sizes = sizes | (1 << z);
		if
		:: NUM(tail) != 0 && lap[HERE] > size -> give_up(FIRST)
		:: else
		fi
	   };
	   /* Give back what is beyond, if it can be done; or let it be. */
	   if
	   :: true -> z = 0
	   :: atomic { NUM(tail) != 0 && LEFT && READ -> punching = size; z = size; SEEN(punched) }
#ifndef PUNCH_UNMARKED
		;
		do
		:: atomic { z < N -> seq[z] = 255; z++ }
		:: atomic { z == N -> z = size; break }
		od
#endif
		;
		do
		:: atomic { z < N -> mem[z * P] = SCRIBBLE; mem[z * P + P - 1] = SCRIBBLE; eb[z] = 0; z++ }
		:: atomic { z == N -> z = size; break }
		od;
#ifdef PUNCH_UNMARKED
		do /* broken: the sequences last */
		:: atomic { z < N -> seq[z] = 255; z++ }
		:: atomic { z == N -> break }
		od;
#endif
		atomic { punching = 255; z = 0 }
	   fi
	:: atomic { left == 0 -> break }
	od
}
#endif

#if defined(NO_SEQ_LOOK) || defined(DISTANCE)
/* Places from that of the packet under the cursor to that of tail t's, at most one wrap. */
#define BEHIND(t) ((AT(t) + PLACES - at) % PLACES)
#define BY_DISTANCE
#endif

proctype snapshot()
{
	byte cursor, expected;	     /* sequence of the packet to copy; of the one after that which was kept last */
	byte t, q, l, at, slot, limit;
	byte s, e, i, w;	     /* as copied */
	byte next, began, end = 255; /* number accounted for so far; committed, and the tail's packet, at the beginning */
	bool bad;

	atomic {
		began = logged;
		cursor = consumed;
		expected = cursor
	};
look:	atomic {
		t = 0; q = 0; l = 0; at = 0; slot = 0; limit = 0; s = 0; e = 0; i = 0; w = 0; bad = false;
#ifdef STREAM
		if
		:: consumed > cursor -> SEEN(taken); cursor = consumed
		:: else
		fi
#endif
	};
	atomic {
		t = tail;
		if
		:: NUM(t) == 0 -> goto done
		:: else
		fi
	};
	atomic { q = seq[SLOT(AT(t))] };
	atomic { l = lap[SLOT(AT(t))] };
	atomic {
		if
		:: AT(tail) != AT(t) -> goto look
		:: else
		fi;
		t = tail;
		if
		:: q < cursor -> goto look
#if defined(BY_DISTANCE)
		:: q >= cursor && q - cursor >= N - 1 -> cursor = q - (N - 2)
#elif defined(STREAM)
		:: q >= cursor && q - cursor >= PRESENT(SLOT(AT(t)), l) -> goto look /* given back meanwhile */
#else
		:: q >= cursor && q - cursor >= PRESENT(SLOT(AT(t)), l) ->
			SEEN(lost);
			cursor = q - (PRESENT(SLOT(AT(t)), l) - 1)
#endif
		:: else
		fi;
		if
		:: end == 255 -> end = q
		:: else
		fi;
#ifdef BY_DISTANCE
		at = (AT(t) + PLACES - (q - cursor) % PLACES) % PLACES;
#endif
		slot = SLOT_OF(SLOT(AT(t)), l, q - cursor);
		limit = (cursor == q -> NUM(t) : P)
	};
#ifdef CONSUMED_BEFORE
	/* broken: looked at before the copy only */
	atomic {
		if
		:: consumed > cursor -> goto look
		:: else
		fi
	};
#endif
	atomic { s = seq[slot] };
	atomic { e = eb[slot] };
copy:	atomic {
		w = mem[slot * P + i];
		if
		:: w == CLOSED && cursor != q -> limit = i
		:: else ->
			i++;
#ifndef HEADER_LATE
			bad = bad || w != e + i;
#endif
			skip
		fi;
		w = 0;
		if
		:: i < limit -> goto copy
		:: else
		fi
	};
#ifndef NO_SECOND_LOOK
#ifdef BY_DISTANCE
	atomic {
		if
		:: BEHIND(tail) > N - 2 || BEHIND(tail) < q - cursor -> goto look
		:: else
		fi
	};
#ifdef DISTANCE
	atomic {
		if
		:: s != cursor || seq[slot] != cursor -> goto look
		:: else
		fi
	};
#endif
#elif defined(STREAM)
#if !defined(STREAM_UNCHECKED) && !defined(CONSUMED_BEFORE)
	atomic {
		if
		:: consumed > cursor -> SEEN(taken); goto look
		:: else
		fi
	};
#endif
#else
	/* What is gone does not come back; the tail's packet was not gone, but the tail is elsewhere by now. */
	atomic {
		if
		:: seq[slot] != cursor && cursor != q -> SEEN(lapped); cursor++; goto look
		:: seq[slot] != cursor && cursor == q -> goto look
		:: else
		fi
	};
#endif
#endif
#ifdef HEADER_LATE
	/* broken: events_before from the ring, instead of from the copy that was looked at again */
	atomic { e = eb[slot] };
#endif
	atomic {
		CHECK(exact, s == cursor && !bad && e + i <= logged);
		CHECK(twice, e >= next);
		CHECK(count, cursor != expected || expected == 0 || next == 0 || e == next);
		CHECK(count, cursor != q || i == NUM(t));
#ifdef STREAM
		CHECK(kept, cursor == expected || consumed >= cursor);
#else
		/* what was passed over cannot be found any more */
		do
		:: expected < cursor ->
			CHECK(kept, expected < given_up || seq[HERE] - expected >= PRESENT(HERE, lap[HERE]) ||
				seq[SLOT_OF(HERE, lap[HERE], seq[HERE] - expected)] != expected);
			expected++
		:: else -> break
		od;
#endif
		next = e + i; /* e - (next before) were lost */
		cursor++;
		expected = cursor;
#ifdef GIVES_BACK
		/* broken: as the recorder does */
		if
		:: cursor - 1 != q -> consumed = cursor
		:: else
		fi;
#endif
#ifdef END_BEFORE
		if
		:: cursor < end -> goto look /* broken: the packet that was the tail's is left out */
#else
		if
		:: cursor - 1 < q && cursor - 1 < end -> goto look
#endif
		:: else
		fi
	};
done:	atomic { CHECK(count, next >= began) }
}

#ifdef STREAM
proctype drain()
{
	byte cursor, next, slot, i, w;

	do
	:: atomic {
		NUM(tail) != 0 && seq[HERE] > cursor ->
		slot = SLOT_OF(HERE, lap[HERE], seq[HERE] - cursor);
		CHECK(recorder, eb[slot] == next && seq[slot] == cursor);
		i = 0
	   };
copy:	   atomic {
		w = mem[slot * P + i];
		if
		:: w == CLOSED -> i = P
		:: else -> i++; next++; CHECK(recorder, w == next)
		fi;
		w = 0;
		if
		:: i < P -> goto copy
		:: else -> i = 0; slot = 0; cursor++
		fi
	   };
	   atomic { consumed = cursor }
	od
}
#endif

init {
	byte i;

	atomic {
		do
		:: i < N -> seq[i] = 255; i++
		:: else -> break
		od;
		i = 0;
		run writer();
#ifdef STREAM
		run drain();
#endif
#if RESIZES
		run resizer();
#endif
		do
		:: i < SNAPSHOTS -> run snapshot(); i++
		:: else -> break
		od
	}
}

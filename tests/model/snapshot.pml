/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Snapshots: a reader that copies a ring it does not own (docs/design.md), for spin. It stores nothing. Writers go on;
 * in stream mode a recorder may be draining the same ring and give packets back.
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
 *   Loads of a reader are in program order: its acquire fences. A load of `consumed` that is taken before the copy is
 *   the variant CONSUMED_BEFORE.
 *
 * The snapshot. For one packet after the other, from the oldest alive:
 *
 *   look    stream: `consumed`, which may move the cursor. Then tail, sequence of its packet, tail again.
 *   copy    the header, and the words below the tail or to the packet's end.
 *   again   flight: the tail (is the packet still among the N - 1 alive?), then the sequence in the slot.
 *           stream: `consumed` has not passed the packet. Nothing else: writers keep off what was not given back.
 *   count   what was verified is kept. What lies before it and was not kept is counted as lost, from events_before.
 *
 * It ends with a packet that was the tail's in the look, or that is not before the one which was the tail's at the first.
 *
 *   exact     each record kept is the one committed under its number
 *   twice     numbers go up
 *   count     between packets that follow each other nothing is lost; kept + lost reaches at least as far as what was
 *             committed before the snapshot began; the tail's packet gives as many records as the tail says
 *   kept      only what writers could take is lost: flight, older than N - 1 packets; stream, given back
 *   recorder  the recorder beside it gets every record, once, in order
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
hidden byte exact = EXACT, twice = TWICE, count = COUNT, kept = KEPT, recorder = RECORDER;
#define W_lapped 1
#define W_renewed 2
#define W_taken 3
#define W_lost 4
#define W_full 5

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
byte logged; /* ghost: records committed; their numbers are 1.. */

#if defined(TRUST_ALL) || (defined(STREAM) && !defined(DISTANCE))
#define ALIVE N
#else
#define ALIVE (N - 1)
#endif

/* Where the writer is: the tail's packet, and the one to open. */
#define HERE SLOT(AT(tail))
#define NEXT_AT (NUM(tail) == 0 -> 0 : (AT(tail) + 1) % PLACES)
#define THERE SLOT(NEXT_AT)
#define NEXT_SEQ (NUM(tail) == 0 -> 0 : seq[HERE] + 1)
#ifdef STREAM
#define ROOM (NEXT_SEQ - consumed < N)
#else
#define ROOM true
#endif

/* One store of an attempt, which may also come to nothing before it. */
#define STORE(...)                                                                                                 \
	if                                                                                                         \
	:: atomic { __VA_ARGS__ }                                                                                  \
	:: goto again                                                                                              \
	fi

proctype writer()
{
	/* Into the tail's packet, or close it (before it is full, too) and open the next. */
again:	if
	:: atomic { logged < R && NUM(tail) % P != 0 -> mem[HERE * P + NUM(tail)] = logged + 1; goto commit }
	:: atomic { logged < R && NUM(tail) % P != 0 -> mem[HERE * P + NUM(tail)] = SCRIBBLE; goto again }
	:: atomic { logged < R && NUM(tail) % P != 0 && ROOM -> mem[HERE * P + NUM(tail)] = CLOSED }
	:: atomic { logged < R && NUM(tail) % P == 0 && ROOM -> goto header }
	:: atomic { logged < R && !ROOM -> SEEN(full); goto again }
	:: atomic { logged == R -> goto done }
	fi;
header:	STORE(eb[THERE] = logged);
	STORE(seq[THERE] = NEXT_SEQ);
	if
	:: atomic { mem[THERE * P] = logged + 1 }
	:: atomic { mem[THERE * P + P - 1] = SCRIBBLE; goto again } /* of a longer record */
	:: goto again
	fi;
	STORE(tail = TAIL(NEXT_AT, 1); logged++);
	goto again;
commit:	STORE(tail = tail + 1; logged++);
	goto again;
done:	skip
}

/* Places from that of the packet under the cursor to that of tail t's, at most one wrap. */
#define BEHIND(t) ((AT(t) + PLACES - at) % PLACES)

proctype snapshot()
{
	byte cursor, expected;	     /* sequence of the packet to copy; of the one after that which was kept last */
	byte t, q, at, slot, limit;
	byte s, e, i, w;	     /* as copied */
	byte next, began, end = 255; /* number accounted for so far; committed, and the tail's packet, at the beginning */
	bool bad;

	atomic {
		began = logged;
		cursor = consumed;
		expected = cursor
	};
look:	atomic {
		t = 0; q = 0; at = 0; slot = 0; limit = 0; s = 0; e = 0; i = 0; w = 0; bad = false;
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
	atomic {
		if
		:: AT(tail) != AT(t) -> goto look
		:: else
		fi;
		t = tail;
		if
		:: q < cursor -> goto look
		:: q >= cursor && q - cursor >= ALIVE ->
#if defined(STREAM) && !defined(DISTANCE)
			goto look /* given back meanwhile */
#else
			SEEN(lost);
			cursor = q - (ALIVE - 1)
#endif
		:: else
		fi;
		if
		:: end == 255 -> end = q
		:: else
		fi;
		at = (AT(t) + PLACES - (q - cursor) % PLACES) % PLACES;
		slot = SLOT(at);
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
#if defined(STREAM) && !defined(DISTANCE)
#if !defined(STREAM_UNCHECKED) && !defined(CONSUMED_BEFORE)
	atomic {
		if
		:: consumed > cursor -> SEEN(taken); goto look
		:: else
		fi
	};
#endif
#else
	atomic {
		if
		:: BEHIND(tail) > ALIVE - 1 || BEHIND(tail) < q - cursor -> SEEN(lapped); goto look
		:: else
		fi
	};
#ifndef NO_SEQ_LOOK
	atomic {
		if
		:: s != cursor || seq[slot] != cursor -> SEEN(renewed); goto look
		:: else
		fi
	};
#endif
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
		CHECK(kept, cursor == expected || seq[HERE] - (cursor - 1) >= N - 1);
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
	byte cursor, next, i, w;

	do
	:: atomic { NUM(tail) != 0 && seq[HERE] > cursor -> CHECK(recorder, eb[cursor % N] == next); i = 0 };
copy:	   atomic {
		w = mem[cursor % N * P + i];
		if
		:: w == CLOSED -> i = P
		:: else -> i++; next++; CHECK(recorder, w == next)
		fi;
		w = 0;
		if
		:: i < P -> goto copy
		:: else -> i = 0; cursor++
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
		do
		:: i < SNAPSHOTS -> run snapshot(); i++
		:: else -> break
		od
	}
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The names ring, compacted by its writers, for spin. Nobody gives its packets back: a writer that finds it full copies
 * what is still needed of the oldest packet behind the tail, and gives that packet back itself. Snapshots read it
 * meanwhile, and store nothing (snapshot.pml).
 *
 * The rule, for whoever has the lock and wants to append (names of packets are sequences, T the tail's):
 *
 *   1. While T - consumed >= N - 1, somebody died compaction: clean first, even if the record would fit.
 *   2. If the record fits into packet T, append it. If not, and T + 1 - consumed < N - 1, open T + 1 with it.
 *   3. Otherwise clean, and begin anew; after N compactions the ring is full of needed names: the record is lost.
 *
 *   To clean: each record of packet `consumed` that is needed and that no younger packet holds is appended (copies may
 *   open T + 1 <= consumed + N - 1, the reserve). When all are there: consumed + 1, last.
 *
 * So the reserve holds copies out of one packet only, none twice, and has room for them if no copy is longer than its
 * original. N >= 3, or the packet to clean could be the tail's.
 *
 * A snapshot. `consumed`, THEN the tail; the packet under the cursor is copied; then `consumed` again. It is kept if it
 * was not given back; otherwise the reader begins at the oldest there is. It ends with a packet that was the tail's in
 * the look BEFORE its copy: the end moves.
 *
 * What is abstracted, and why that is sound
 *
 *   One process holds the lock, dies after any store, and begins anew as the next holder: ring.pml has shown that
 *   holders exclude each other, that a dead one's lock is taken over, and that its stores have all happened.
 *   Records are 1 word, with WIDE 1 and 2 in turn, with FORMS one more but for a packet's first (the extended form).
 *   One name per thread: `uid`.
 *   A look at tail and sequence is one step, and the position does not wrap: snapshot.pml has both.
 *   The holder's scan of the ring is one step: no process stores into it meanwhile.
 *   Who is needed ends at any moment (a thread died, or was announced anew, and its records from
 *   before have left the rings); no thread becomes needed again.
 *
 *   named   what was announced before the snapshot began, and is needed until it ends, is in it
 *   exact   what it holds are records that were committed in that packet
 *   kept    nothing needed leaves the ring
 *   room    a cleaner never lacks room
 *   fair    an announcement is lost only if needed names fill all packets but the reserve
 */
#include "check.pml"

#ifndef N
#define N 3
#endif
#ifndef P
#define P 2 /* words per packet */
#endif
#ifndef K
#define K 6 /* threads, one after the other */
#endif
#ifdef WIDE
#define WORDS(uid) (1 + (uid) % 2)
#define WORDS_MAX 2
#else
#define WORDS(uid) 1
#define WORDS_MAX 1
#endif
#ifndef DEATHS
#define DEATHS K
#endif
#ifndef RETIRE
#define RETIRE K /* threads that end being needed */
#endif
#ifdef GIVE_UP
#define TRIES (N - 1) /* broken: one of N may have been somebody else's, begun for what was needed then */
#else
#define TRIES N
#endif
/* What the full time adds to a record that is not its packet's first. */
#ifndef FORMS
#define choose_form() more = 0
#elif defined(COMPACT)
#define choose_form() if :: more = 0 :: more = 1 fi /* broken: only if the clock says so */
#else
#define choose_form() more = 1
#endif
/* Words, forms apart, that a packet without room for another record holds at least. */
#ifdef FORMS
#define FULL (1 + (P - 1) / 2)
#else
#define FULL (P - WORDS_MAX + 1)
#endif
#define FITS(words) (used + (words) + (used == 0 -> 0 : more) <= P)
#ifdef COPY_GROWS
#define COPY_WORDS(uid) (WORDS(uid) + 1) /* broken: a field that only copies have */
#else
#define COPY_WORDS(uid) WORDS(uid)
#endif
#ifdef NO_RESERVE
#define RESERVE 0 /* broken */
#else
#define RESERVE 1
#endif

#ifndef NAMED
#define NAMED ALL
#endif
#ifndef EXACT
#define EXACT ALL
#endif
#ifndef KEPT
#define KEPT ALL
#endif
#ifndef ROOM
#define ROOM ALL
#endif
#ifndef FAIR
#define FAIR ALL
#endif
hidden byte named = NAMED, exact = EXACT, kept = KEPT, room = ROOM, fair = FAIR;
#define W_resumed 1
#define W_taken 2
#define W_lost 3

#define PAYLOAD 64
#define CLOSED 0
#define BIT(uid) (1 << (uid))
#define SLOT(s) ((s) % N)

/* The tail, one word: sequence of its packet, words in it. Packet 0 is open from the start. */
byte last, used;
byte consumed;
byte mem[N * P];
short held[N];	  /* names committed in a slot's packet: what a scan of it finds */
byte owner[N];	  /* ghost: the packet that a slot's bytes belong to, from the first store of its opening */
short alive;	  /* judged to be needed by a cleaner */
short needed;	  /* announced (the append returned) and still needed */
short must;	  /* of those, announced before the snapshot began */

/* Names in the packets from s on. */
#define FROM(s, i) ((i) >= (s) && (i) <= last -> held[SLOT(i)] : 0)
#define YOUNGER(s) (FROM(s, s) | FROM(s, s + 1) | FROM(s, s + 2) | FROM(s, s + 3))

#define STORE(...)                                                                                                 \
	if                                                                                                         \
	:: atomic { __VA_ARGS__ }                                                                                  \
	:: deaths < DEATHS -> goto dies                                                                     \
	fi

/* Append `words` words of uid x, in a new packet if `fresh`. */
inline append(x, words)
{
	atomic {
		length = words + (fresh || used == 0 -> 0 : more);
		more = 0
	};
	if
	:: fresh ->
		if
		:: used < P -> STORE(mem[SLOT(last) * P + used] = CLOSED)
		:: else
		fi;
		STORE(owner[SLOT(last + 1)] = last + 1; mem[SLOT(last + 1) * P] = x)
	:: else -> STORE(mem[SLOT(last) * P + used] = x)
	fi;
	if
	:: length > 1 -> STORE(mem[SLOT(last + fresh) * P + (fresh -> 0 : used) + 1] = PAYLOAD + x)
	:: else
	fi;
	STORE(
		if
		:: fresh -> last++; used = 0; held[SLOT(last)] = 0
		:: else
		fi;
		used = used + length;
		length = 0;
		held[SLOT(last)] = held[SLOT(last)] | BIT(x);
		fresh = false)
}

/* Words of the names in a set that uids up to K can be in. */
inline weigh(set)
{
	i = 1;
	weight = 0;
	do
	:: i <= K ->
		if
		:: set & BIT(i) -> weight = weight + WORDS(i)
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

/* What need not be copied again. */
#ifdef NO_SEARCH
#define COPIED(x) (copied & BIT(x)) /* broken: does not know what a dead one has copied */
#else
#define COPIED(x) (YOUNGER(consumed + 1) & BIT(x))
#endif

/* The next record of the oldest packet that has to be copied: x, or 0. */
inline choose()
{
	x = 0;
	i = 0;
	do
	:: i < P && mem[SLOT(consumed) * P + i] != CLOSED ->
		x = mem[SLOT(consumed) * P + i];
		i++;
		if
		:: x < PAYLOAD && (alive & BIT(x)) && !COPIED(x) -> break
		:: else -> x = 0
		fi
	:: else -> break
	od;
	i = 0
}

/* The packet is the writers' again. */
inline give()
{
	consumed++;
	CHECK(kept, (needed & ~YOUNGER(consumed)) == 0)
}

proctype holder()
{
	byte me, x, i, compactions, weight, deaths, more, length;
	short copied;
	bool fresh;

next:	atomic {
		if
		:: me == K -> goto finish
		:: else
		fi;
		me++;
		alive = alive | BIT(me);
		weigh(alive); /* ghost: all that may be needed, this one too */
		compactions = 0
	};
again:	atomic {
		fresh = false;
		choose_form();
		copied = 0;
		if
#ifndef IN_RESERVE
		:: last - consumed >= N - 1 && RESERVE -> SEEN(resumed); goto clean
		:: (last - consumed < N - 1 || !RESERVE) && FITS(WORDS(me))
#else
		/* broken: a record goes where there is room, the reserve too */
		:: FITS(WORDS(me))
#endif
		:: !FITS(WORDS(me)) && last + 1 - consumed < N - RESERVE -> fresh = true
		:: else -> goto clean
		fi
	};
	append(me, WORDS(me));
	STORE(needed = needed | (alive & BIT(me)); goto next);

clean:	atomic {
		more = 0;
		if
		:: compactions == TRIES ->
			SEEN(lost);
			CHECK(fair, weight > (N - 1) * FULL);
			alive = alive & ~BIT(me);
			goto next
		:: else -> compactions++
		fi
	};
#ifdef GIVE_FIRST
	STORE(give());
#endif
copy:	atomic {
		choose();
		choose_form();
		if
		:: x == 0 -> goto give_back
		:: x != 0 && FITS(COPY_WORDS(x))
		:: x != 0 && !FITS(COPY_WORDS(x)) && last + 1 - consumed < N -> fresh = true
		:: else -> CHECK(room, false); goto finish
		fi;
#ifdef NO_SEARCH
		copied = copied | BIT(x);
#endif
		skip
	};
	append(x, COPY_WORDS(x));
	goto copy;
give_back:
	atomic { more = 0 };
#ifndef GIVE_FIRST
	STORE(give());
#endif
	goto again;

	/* Killed: what it stored stays, the next one begins. Its thread ends with it. */
dies:	atomic { deaths = deaths + (DEATHS < K); alive = alive & ~BIT(me); x = 0; i = 0; weight = 0; copied = 0; more = 0; length = 0; fresh = false; goto next };
finish:	skip
}

/* A thread is not needed any more. */
#define END(uid)                                                                                                   \
	atomic {                                                                                                   \
		(needed & BIT(uid)) && retired < RETIRE ->                                                         \
		retired = retired + (RETIRE < K);                                                                  \
		needed = needed & ~BIT(uid);                                                                       \
		alive = alive & ~BIT(uid);                                                                         \
		must = must & ~BIT(uid)                                                                            \
	}
proctype world()
{
	byte retired;

	do
	:: END(1)
	:: END(2)
	:: END(3)
	:: END(4)
	:: END(5)
	:: END(6)
	:: END(7)
	od
}

#ifdef READER
#define LIMIT (cursor == t -> n : P)
inline skip_given_back()
{
	if
	:: consumed > cursor -> SEEN(taken); cursor = consumed
	:: else
	fi
}

proctype snapshot()
{
	byte cursor, t, n, i, w;
#ifdef END_ONCE
	byte end = 255;
#endif
	short got, piece;
	bool bad;

	atomic { must = needed; cursor = consumed };
look:	atomic {
		piece = 0; i = 0; bad = false;
#ifdef CONSUMED_LATE
		skip /* broken: what it skips may lie behind the tail that was seen */
	};
	atomic {
		t = last;
		n = used
	};
	atomic {
		skip_given_back();
		if
		:: cursor > t -> goto look
		:: else
		fi
	};
#else
		skip_given_back()
	};
	atomic {
		t = last;
		n = used
	};
#endif
#ifdef END_ONCE
	atomic {
		if
		:: end == 255 -> end = t
		:: else
		fi
	};
#endif
copy:	atomic {
		if
		:: i < LIMIT ->
			w = mem[SLOT(cursor) * P + i];
			bad = bad || owner[SLOT(cursor)] != cursor;
			if
			:: w == CLOSED -> i = LIMIT
			:: w != CLOSED && w < PAYLOAD -> piece = piece | BIT(w); i++
			:: else -> i++
			fi;
			w = 0;
			goto copy
		:: else
		fi
	};
#ifndef UNCHECKED
	atomic {
		if
		:: consumed > cursor -> goto look
		:: else
		fi
	};
#endif
	atomic {
		CHECK(exact, !bad);
		got = got | piece;
		if
#ifdef END_ONCE
		:: cursor < end -> cursor++; goto look /* broken: the end is where it was at first */
#else
		:: cursor < t -> cursor++; goto look
#endif
		:: else
		fi
	};
	atomic { CHECK(named, (must & ~got) == 0); must = 0 }
}
#endif

init {
	atomic {
		run holder();
		run world();
#ifdef READER
		run snapshot();
#endif
		skip
	}
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The reader (src/ring/copy.c), and the world: death, migration, the end. See ring.pml.
 *
 * One reader, on a CPU of its own, looks whenever it likes and as often as there is something new. It keeps a cursor
 * (sequence of a packet, words of it that it has read) and takes what one packet holds beyond it:
 *
 *   look    the tail, the sequence of its packet, the tail again: only if the packet is the same do they belong
 *           together. The position alone would not do, it wraps: a reader that slept would not know how long.
 *   copy    the header, and the words up to the tail (of the tail's packet) or to the end (of one before).
 *   again   flight mode: the packet's sequence, which goes before anything else in the slot changes. What is gone
 *           does not come back.
 *   give    stream mode: consumed, once a packet is behind the cursor.
 *
 * Here records are checked while they are copied, and the verdict (`bad`) counts when the copy does.
 */

#define KIND(x) ((x) / 4096)
#define LENGTH(x) ((x) / 256 % 16)
#define LOW(x) ((x) / 16 % 16)
#define UID(x) ((x) % 16)

#if defined(NO_SEQ_LOOK) || defined(SEQ_FROM_TAIL)
#define ALIVE (N - 1) /* broken: looks again at the tail only; the slot behind its own belongs to the writers */
#else
#define ALIVE N
#endif

#ifndef READERS
#define READERS 1 /* rings that are read */
#endif
byte readers;
#ifdef READ_LATE
#define may_look(r) (running == 0) /* cases about writers alone */
#else
#define may_look(r) true
#endif
/* Nobody will append any more, and what was appended can be seen. */
#define quiet(r) (running == 0 && ring[r].seen == ring[r].tail)
#ifdef RESERVE
#define reservations_filled(r) (ring[r].filled == ring[r].logged)
#else
#define reservations_filled(r) true
#endif

#define BAD_EXACT 1
#define BAD_TWICE 2
#define BAD_ORDER 4
#define BAD_DECODE 8
#define BAD_WINDOW 16

/* One record is complete: it must be number `eb + idx` of those committed. */
inline verify()
{
	x = eb + idx;
	idx++;
	if
	:: x >= ring[r].logged || ring[r].log_uid[x] != uid -> bad = bad | BAD_EXACT
	:: else ->
		if
		:: ring[r].log_time[x] != tm -> bad = bad | BAD_DECODE
		:: else
		fi;
		if
		:: ring[r].log_time[x] < c_time -> bad = bad | BAD_ORDER
		:: else -> c_time = ring[r].log_time[x]
		fi
	fi;
	if
	:: x < c_next -> bad = bad | BAD_TWICE
	:: else
	fi;
	c_next = x + 1;
	if
	:: tm > te || tm < tb -> bad = bad | BAD_WINDOW
	:: else
	fi
}

/* One word of a packet. `need` words are missing of the record it is in; the walk ends at o == limit. */
inline take()
{
	x = ring[r].mem[slot * P + o];
	o++;
	if
	:: need == 0 && KIND(x) == K_CLOSED && cursor != q -> o = limit
	:: need == 0 && KIND(x) == K_COMPACT && o + LENGTH(x) - 1 <= limit ->
		uid = UID(x);
		need = LENGTH(x) - 1;
		tm = (LOW(x) < tm % TM -> tm - tm % TM + TM + LOW(x) : tm - tm % TM + LOW(x));
		if
		:: need == 0 -> verify()
		:: else
		fi
	:: need == 0 && KIND(x) == K_EXTENDED && o + LENGTH(x) <= limit ->
		uid = UID(x);
		need = LENGTH(x);
		wide = true
	:: need > 0 && wide && KIND(x) == K_TIME ->
		need--;
		wide = false;
		tm = x % 256;
		if
		:: need == 0 -> verify()
		:: else
		fi
	:: need > 0 && !wide && KIND(x) == K_PAYLOAD && UID(x) == uid ->
		need--;
		if
		:: need == 0 -> verify()
		:: else
		fi
	:: else ->
		bad = bad | BAD_EXACT;
		need = 0;
		wide = false;
		o = limit
	fi
}

inline judge()
{
	CHECK(exact, !(bad & BAD_EXACT));
	CHECK(twice, !(bad & BAD_TWICE));
	CHECK(order, !(bad & BAD_ORDER));
	CHECK(decode, !(bad & BAD_DECODE));
	CHECK(window, !(bad & BAD_WINDOW))
}

/* Words from the start of the packet under the cursor to that of tail t, at most one wrap. */
#define BEHIND(t) ((START(t) + WRAP - from) % WRAP)

proctype reader(byte r)
{
	byte cursor, o;		  /* sequence, words read */
	byte slot, from, limit;	  /* of the packet under the cursor: where, position, words to copy */
	short t, again, q, x;	  /* tails; sequence of the tail's packet */
	byte seq, eb, tb, te;	  /* header as copied */
	byte uid, need, tm, idx;  /* decoding, from piece to piece of one packet */
	bool wide, last;
	byte bad, c_next, c_time; /* verdict on the piece */
	byte next, time;	  /* number and time behind the last record read */
	byte ended, ended_seq = 255; /* time_end and sequence of the last packet that was read to its end */

	do
	:: atomic {
		may_look(r) && (ring[r].seen != t || (quiet(r) && !last)) ->
		last = quiet(r);
		t = ring[r].seen;
		if
		:: t != 0
		:: else -> goto looked
		fi;
		slot = SLOT(LAST(t))
	   };
	   atomic { q = ring[r].seq[slot] };
	   atomic {
		if
		:: START(ring[r].seen) != START(t) || !reservations_filled(r) -> goto changed
		:: else
		fi;
		t = ring[r].seen;
#ifdef SEQ_FROM_TAIL
		/* broken: the next packet from the cursor's on that lies there, whatever its sequence */
		q = cursor + (START(t) / P + LAPS * N - cursor % (LAPS * N)) % (LAPS * N);
#endif
		if
		:: q - cursor >= ALIVE ->
#ifdef STREAM
			CHECK(exact, false); /* writers keep off what was not given back */
#endif
			SEEN(overwritten);
			cursor = q - (ALIVE - 1);
			o = 0
		:: else
		fi;
		if
		:: q < cursor -> goto changed
		:: else
		fi;
		from = (START(t) + WRAP - ((q - cursor) * P) % WRAP) % WRAP;
		slot = SLOT(from);
		limit = (cursor == q && IN(t) != 0 -> IN(t) : P);
		bad = 0;
		need = 0;
		wide = false;
		c_next = next;
		c_time = time;
		if
		:: o >= limit && cursor == q -> goto looked /* nothing new */
		:: else
		fi
	   };
#ifdef CONSUMED_FIRST
	   atomic { ring[r].consumed = (cursor != q -> cursor + 1 : cursor) };
#endif
	   atomic { seq = ring[r].seq[slot] };
	   atomic { eb = ring[r].eb[slot] };
	   atomic {
		tb = ring[r].tb[slot];
		te = ring[r].te[slot];
		if
		:: o == 0 -> o = 1; tm = tb; idx = 0
		:: else
		fi;
		if
		:: o >= limit -> goto copied
		:: else
		fi
	   };
copy:	   atomic {
		take();
		if
		:: o < limit -> goto copy
		:: else
		fi
	   };
copied:
#ifndef STREAM
#ifndef NO_SECOND_LOOK
#if defined(NO_SEQ_LOOK) || defined(SEQ_FROM_TAIL)
	   atomic {
		again = ring[r].seen;
		if
		:: BEHIND(again) > (ALIVE - 1) * P || BEHIND(again) < BEHIND(t) -> o = 0; goto changed
		:: else
		fi
	   };
#else
	   atomic {
		if
		:: ring[r].seq[slot] != cursor -> SEEN(lapped); o = 0; cursor = (cursor != q -> cursor + 1 : cursor); goto changed
		:: else
		fi
	   };
#endif
#endif
#endif
	   /* What was copied counts. */
	   atomic {
		CHECK(exact, seq == cursor);
		judge();
		CHECK(window, cursor == 0 || ended_seq != cursor - 1 || tb >= ended);
		CHECK(count, cursor == 0 || ended_seq != cursor - 1 || eb + idx == c_next);
		CHECK(count, cursor != q || idx == NUM(t));
		next = c_next;
		time = c_time;
		if
		:: cursor != q ->
			ended = te;
			ended_seq = cursor;
			cursor++;
			o = 0;
			t = -1; /* look anew */
#if defined(STREAM) && !defined(CONSUMED_FIRST)
			ring[r].consumed = cursor;
#endif
			skip
		:: else
		fi;
		goto looked
	   };
changed:   atomic { t = -1; last = false }; /* look anew */
looked:	   atomic { again = 0; slot = 0; from = 0; limit = 0; bad = 0; need = 0; wide = false; seq = 0; eb = 0;
		tb = 0; te = 0; x = 0; uid = 0; c_next = 0; c_time = 0;
		if
		:: o == 0 -> tm = 0; idx = 0
		:: else
		fi }
	:: atomic { quiet(r) && last && ring[r].seen == t -> break }
	od;
	CHECK(count, next == ring[r].logged);
	readers--
}

#ifdef KILL
/* Death, of up to KILL threads (one takes the handler along that runs on it), at any moment. */
#define HANDLER_PID (WRITERS + 1)
inline die(p)
{
	if
	:: !fin[p] && !dead[p] -> dead[p] = true; halt[p] = true; running--
	:: else
	fi
}

proctype killer()
{
	byte k = KILL;
	do
	:: atomic {
		k > 0 && !fin[1] && !dead[1] ->
		k--;
		SEEN(dead);
		gone[1] = true;
		die(1);
#ifdef HANDLER
		die(HANDLER_PID)
#endif
	   }
	:: atomic { k > 0 && !fin[2] && !dead[2] -> k--; gone[2] = true; die(2) }
	:: atomic { true -> k = 0; break }
	od
}
#endif

#ifdef MOVES
/* Migration: the thread is preempted, and so is whoever it comes upon. */
inline move(th)
{
	cur[cpu[th]] = 0;
	cpu[th] = 1 - cpu[th];
	cur[cpu[th]] = 0
}

proctype mover()
{
	byte m = MOVES;
	do
	:: atomic { m > 0 && !fin[1] -> m--; move(0) }
	:: atomic { m > 0 && !fin[2] -> m--; move(1) }
	:: atomic { true -> m = 0; break }
	od
}
#endif

#ifdef WEAK_STORES
/* The tail becomes visible some time, and maybe after stores that follow it. */
proctype trickle(byte r)
{
	do
	:: atomic { ring[r].seen != ring[r].tail -> ring[r].seen = ring[r].tail }
	od
}
#endif

init {
	byte i, got;

	atomic {
		running = WRITERS;
		i = 0;
		do
		:: i < RINGS * N -> ring[i / N].seq[i % N] = 255; i++
		:: else -> break
		od;
		/* uids from 1 on, none twice; pids from 1 on */
		run writer(0, 1, 1, R1, 0);
		run writer(1, 2, 1 + R1, R2, 0);
#if WRITERS > 2
		run writer(2, 3, 1 + R1 + R2, R3, 0);
#endif
#ifdef HANDLER
		running++;
		run writer(0, 1, 1 + R1 + R2 + R3, HANDLER, 1);
#endif
#ifdef REBORN
		running++;
		run writer(REBORN_THREAD, 1, 1 + R1 + R2 + R3, REBORN, 0);
#endif
		i = 0;
		do
		:: i < READERS -> readers++; run reader(i); i++
		:: else -> break
		od;
#ifdef KILL
		run killer();
#endif
#ifdef MOVES
		run mover();
#endif
#ifdef WEAK_STORES
		run trickle(0);
#endif
		i = 0
	};
	/* Nothing moves any more. */
	atomic {
		timeout ->
		CHECK(progress, running == 0 && readers == 0);
		got = lost_busy;
		do
		:: i < RINGS -> got = got + ring[i].logged + ring[i].lost_full; i++
		:: else -> break
		od;
		CHECK(count, completed <= got && got <= started)
	}
}

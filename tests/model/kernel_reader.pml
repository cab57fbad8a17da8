/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The reader of the kernel's rings, and the world: other laps, the end. See kernel.pml, also for what the reader does.
 */

/* Nobody will append any more, and what was appended can be seen. */
#ifdef STOP
#define quiet(r) (ended && VIEW(r, THE_TAIL) == own[PLACE(r, THE_TAIL)])
#else
#define quiet(r) (running == 0 && VIEW(r, THE_TAIL) == own[PLACE(r, THE_TAIL)])
#endif
#ifdef READ_LATE
#define may_look(r) quiet(r) /* cases about writers alone */
#else
#define may_look(r) true
#endif

#define BAD_EXACT 1
#define BAD_TWICE 2
#define BAD_ORDER 4
#define BAD_DECODE 8

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
	:: x < c_number -> bad = bad | BAD_TWICE
	:: else
	fi;
	c_number = x + 1
}

/* One word of a packet. `need` words are missing of the record it is in. */
inline take()
{
	x = VIEW(r, MEM(slot * P + o));
	o++;
	if
	:: need == 0 && KIND(x) == K_CLOSED && cursor != q -> o = limit
	:: need == 0 && KIND(x) == K_RECORD && o + LENGTH(x) - 1 <= limit ->
		uid = UID(x);
		need = LENGTH(x) - 1;
		tm = (LOW(x) < tm % TM -> tm - tm % TM + TM + LOW(x) : tm - tm % TM + LOW(x));
		if
		:: need == 0 -> verify()
		:: else
		fi
	:: need > 0 && KIND(x) == K_FIELD && UID(x) == uid ->
		need--;
		if
		:: need == 0 -> verify()
		:: else
		fi
	:: else ->
		bad = bad | BAD_EXACT;
		need = 0;
		o = limit
	fi
}

/* The reader, as in reader.pml: look, copy, look again (flight), give back (stream). */
#ifdef KILL
proctype reader(byte r) provided(!dead)
#else
proctype reader(byte r)
#endif
{
	byte cursor, o;		 /* sequence, words read */
	byte slot, limit;	 /* of the packet under the cursor: where, words to copy */
	short t, q, x;		 /* tail; sequence of its packet */
	byte sequence, eb, lost; /* header as copied */
	byte uid, need, tm, idx; /* decoding, from piece to piece of one packet */
	bool last;
	byte bad, c_number, c_time;    /* verdict on the piece */
	byte number, time, lost_before; /* behind the last record read */
	byte whole = 255;	       /* the last packet that was read to its end */

	do
	:: atomic {
		may_look(r) && (VIEW(r, THE_TAIL) != t || (quiet(r) && !last)) ->
		last = quiet(r);
		t = VIEW(r, THE_TAIL);
		if
		:: t != 0
		:: else -> goto looked
		fi;
		slot = SEQUENCE(t) % N
	   };
	   atomic { q = VIEW(r, SEQ(slot)) };
	   atomic {
		if
		:: SEQUENCE(VIEW(r, THE_TAIL)) != SEQUENCE(t) -> goto changed
		:: else
		fi;
		t = VIEW(r, THE_TAIL);
		CHECK(exact, q == SEQUENCE(t));
		if
		:: q != SEQUENCE(t) -> goto changed
		:: else
		fi;
		if
		:: q - cursor >= N ->
#ifdef STREAM
			CHECK(exact, false); /* programs keep off what was not given back */
#endif
			cursor = q - (N - 1);
			o = 0
		:: else
		fi;
		slot = cursor % N;
		limit = (cursor == q && POS(t) % P != 0 -> POS(t) % P : P);
		c_number = number;
		c_time = time;
		if
		:: o >= limit && cursor == q -> goto looked /* nothing new */
		:: else
		fi
	   };
#ifdef CONSUMED_FIRST
	   atomic { consumed[r] = (cursor != q -> cursor + 1 : cursor) }; /* broken: a packet is given back before it is copied */
#endif
	   atomic { sequence = VIEW(r, SEQ(slot)) };
	   atomic { eb = VIEW(r, EB(slot)); lost = VIEW(r, LOST(slot)) };
	   atomic {
		if
		:: o == 0 -> o = 1; tm = VIEW(r, BASE(slot)); idx = 0
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
#if !defined(STREAM) && !defined(NO_SECOND_LOOK)
	   atomic {
		if
		:: VIEW(r, SEQ(slot)) != cursor ->
			SEEN(lapped);
			o = 0;
			cursor = (cursor != q -> cursor + 1 : cursor);
			goto changed
		:: else
		fi
	   };
#endif
	   /* The copied records count. */
	   atomic {
		CHECK(exact, sequence == cursor);
		CHECK(exact, !(bad & BAD_EXACT));
		CHECK(twice, !(bad & BAD_TWICE));
		CHECK(order, !(bad & BAD_ORDER));
		CHECK(decode, !(bad & BAD_DECODE));
		CHECK(count, cursor == 0 || whole != cursor - 1 || eb + idx == c_number);
		CHECK(count, cursor != q || idx == NUM(t));
		CHECK(count, lost >= lost_before && lost <= own[PLACE(r, THE_FULL)] + own[PLACE(r, THE_BUSY)]);
		number = c_number;
		time = c_time;
		lost_before = lost;
		if
		:: cursor != q ->
			whole = cursor;
			cursor++;
			o = 0;
			t = -1; /* look anew */
#if defined(STREAM) && !defined(CONSUMED_FIRST)
			consumed[r] = cursor;
#endif
			skip
		:: else
		fi;
		goto looked
	   };
changed:   atomic { t = -1; last = false };
looked:	   atomic {
		slot = 0; limit = 0; q = 0; x = 0; sequence = 0; eb = 0; lost = 0; uid = 0; need = 0; bad = 0;
		c_number = 0; c_time = 0;
		if
		:: o == 0 -> tm = 0; idx = 0
		:: else
		fi
	   }
	:: atomic { quiet(r) && last && VIEW(r, THE_TAIL) == t -> break }
	od;
	CHECK(count, number == ring[r].logged);
	readers--
}

#ifdef WEAK
/* A store becomes visible, whichever. N <= 3, P <= 3, one ring. */
#define SHOWN(i) :: atomic { i < WORDS && own[(i) % WORDS] != seen[(i) % WORDS] -> appear(i) }
inline appear(i)
{
	if
	:: i > MEM(0) && KIND(own[(i) % WORDS]) == K_RECORD && LENGTH(own[(i) % WORDS]) == 2 ->
		if
		:: own[(i + 1) % WORDS] != seen[(i + 1) % WORDS] -> SEEN(disordered)
		:: else
		fi
	:: else
	fi;
	settled--;
	seen[(i) % WORDS] = own[(i) % WORDS]
}

proctype trickle()
{
	do
	SHOWN(0) SHOWN(1) SHOWN(2) SHOWN(3) SHOWN(4) SHOWN(5) SHOWN(6) SHOWN(7) SHOWN(8) SHOWN(9) SHOWN(10) SHOWN(11) SHOWN(12)
	SHOWN(13) SHOWN(14) SHOWN(15) SHOWN(16) SHOWN(17) SHOWN(18) SHOWN(19) SHOWN(20) SHOWN(21) SHOWN(22) SHOWN(23) SHOWN(24)
	od
}
#endif

init {
	byte r, i, got;

	atomic {
		do
		:: r < DEPTHS ->
			i = 0;
			do
			:: i < N ->
				own[PLACE(r, SEQ(i))] = 255;
#ifdef WEAK
				seen[PLACE(r, SEQ(i))] = 255;
#endif
				i++
			:: else -> break
			od;
			ready[r] = true;
			readers++;
			run reader(r);
			r++
		:: else -> break
		od;
		running = 2;
		run program(1, R1, false);
		run program(1 + R1, R2, false);
#if R3
		running++;
		run program(1 + R1 + R2, R3, false);
#endif
#if defined(STOP) || defined(KILL)
		running++;
		run program(1 + R1 + R2 + R3, ENDS, true);
#endif
#ifdef WEAK
		run trickle();
#endif
		r = 0;
		i = 0
	};
	/* Nothing moves any more. */
	atomic {
		timeout ->
		CHECK(progress, running == 0 && (readers == 0 || dead));
		do
		:: r < DEPTHS ->
			got = got + ring[r].logged + own[PLACE(r, THE_FULL)] + own[PLACE(r, THE_BUSY)];
			i = 0;
			do
			:: i < ring[r].logged ->
				if
#ifdef STREAM
				:: ring[r].log_pos[i] / P >= consumed[r] ->
					if
					:: dead -> SEEN(orphaned)
					:: else
					fi;
#else
				:: ring[r].log_pos[i] / P + N > SEQUENCE(own[PLACE(r, THE_TAIL)]) ->
#endif
					CHECK(kept, own[PLACE(r, MEM(ring[r].log_pos[i]))] == WORD(K_RECORD,
						LEN(ring[r].log_uid[i]), ring[r].log_time[i] % TM, ring[r].log_uid[i]));
					CHECK(kept, own[PLACE(r, SEQ(ring[r].log_pos[i] / P % N))] == ring[r].log_pos[i] / P);
					CHECK(kept, own[PLACE(r, EB(ring[r].log_pos[i] / P % N))] <= i)
				:: else
				fi;
				i++
			:: else -> break
			od;
			r++
		:: else -> break
		od;
		CHECK(count, got + refused == started);
		r = 0;
		i = 0;
		got = 0
	}
}

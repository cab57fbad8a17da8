# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2086,SC2154,SC2034  # flags are to be split; the rest is run.sh's
# The cases of run.sh, which sources this file.
#
# ring.pml. Flags: N slots, P words per packet, LAPS until the position wraps; R1 R2 R3 records of the writers, HANDLER those of a
# handler that interrupts writer 1; SAME length of all records (otherwise 1 and 2 words in turn); TICKS largest clock,
# JUMP by which it may leap, BACKS how often it steps back, TM for 2^32; KILL how many threads may die, MOVES how often one
# may migrate; STREAM or flight; LOCKED or restartable; READ_LATE: the reader comes at the end (cases about writers alone,
# which can then be larger).

model=ring
TWO='-DREAD_LATE -DSTREAM -DN=3 -DR1=2 -DR2=2'
THREE='-DREAD_LATE -DSTREAM -DN=3 -DWRITERS=3 -DR1=1 -DR2=1 -DR3=1 -DTICKS=0'
MOVE='-DREAD_LATE -DRINGS=2 -DREADERS=2 -DMOVES=1 -DR1=2 -DR2=1 -DTICKS=0'
NEST='-DREAD_LATE -DR1=1 -DR2=1 -DHANDLER=1 -DR3=0 -DTICKS=0'
DIE='-DREAD_LATE -DSTREAM -DKILL=1 -DR1=2 -DR2=1 -DTICKS=1'
DIEGAP='-DREAD_LATE -DSTREAM -DKILL=1 -DR1=1 -DR2=2 -DTM=2 -DTICKS=2 -DJUMP=2 -DP=6'
LAP='-DREAD_LATE -DN=3 -DP=3 -DR1=2 -DR2=3 -DTICKS=1'
DISCARD='-DSTREAM -DP=3 -DR1=2 -DR2=2 -DTICKS=0'
LOCK='-DLOCKED -DREAD_LATE -DKILL=1 -DR1=2 -DR2=2 -DTICKS=1'
LOCK3='-DLOCKED -DREAD_LATE -DKILL=1 -DRINGS=2 -DREADERS=2 -DWRITERS=3 -DR1=1 -DR2=1 -DR3=1 -DTICKS=0'
LOCKNEST='-DLOCKED -DREAD_LATE -DKILL=1 -DR1=1 -DR2=1 -DHANDLER=1 -DR3=0 -DTICKS=1'
LOCKGAP='-DLOCKED -DREAD_LATE -DSTREAM -DKILL=1 -DR1=2 -DR2=1 -DTM=2 -DTICKS=3 -DJUMP=2 -DP=6'
# A thread id that is used again may block a ring until that thread dies too, or traces (README.md): no `progress`.
REBORN='-DLOCKED -DREAD_LATE -DKILL=1 -DREBORN=1 -DR1=1 -DR2=1 -DR3=0 -DTICKS=0 -DPROGRESS=0'
FLIGHT='-DN=3 -DP=3 -DR1=2 -DR2=2 -DTICKS=0'
STREAM='-DSTREAM -DR1=2 -DR2=1 -DTICKS=0'
ABA='-DREAD_LATE -DLAPS=1 -DP=2 -DR1=1 -DR2=4 -DTICKS=1 -DSAME=1'
WRAP='-DP=2 -DR1=5 -DR2=0 -DTICKS=0 -DSAME=1'
GAP='-DREAD_LATE -DSTREAM -DR1=2 -DR2=1 -DTM=2 -DTICKS=3 -DJUMP=2 -DP=6'
BACK='-DREAD_LATE -DSTREAM -DR1=2 -DR2=2 -DTICKS=2 -DBACKS=1'
BACKGAP='-DREAD_LATE -DSTREAM -DR1=2 -DR2=1 -DTM=2 -DTICKS=3 -DJUMP=2 -DBACKS=1 -DP=6'

# (a) writers of one CPU, migration, handlers
right "two writers" $TWO
right "three writers" $THREE
right "migration" $MOVE
right "handler" $NEST
# (b) death at any step
right "death" $DIE
right "death, gaps" $DIEGAP
right "death, handler" $NEST -DKILL=1
# (c) (d) packet switch (in all), overwrite, discard
right "overwrite" $LAP
right "discard" $DISCARD
# (e) locks
right "locks, death" $LOCK
right "locks, two rings, three writers, death" $LOCK3
right "locks, handler, death" $LOCKNEST
right "locks, gaps, death" $LOCKGAP
right "locks, thread id used again" $REBORN
# (f) a reader on another CPU
right "flight reader" $FLIGHT
right "stream reader" $STREAM
right "flight reader, locks" -DLOCKED -DP=3 -DR1=2 -DR2=1 -DTICKS=0 -DKILL=1
# (g) counters that wrap
right "writers, tail wraps" $ABA
right "reader, tail wraps" $WRAP
# (h) the clock
right "gaps" $GAP
right "clock steps back" $BACK
right "clock steps back, gaps" $BACKGAP

# What these cases are about does happen in them.
seen restart $TWO
seen moved $MOVE
seen nested $NEST
seen dead $DIE
seen closed $TWO
seen overwritten $LAP
seen discard $DISCARD
seen takeover $LOCK
seen busy $LOCKNEST
seen lapped $FLIGHT
seen wrapped $ABA
seen extended $GAP
seen held $BACK

# Broken variants: the writers, ...
broken DETOUR exact $TWO
broken NO_CLOSED exact $LAP
broken PUBLISH_FIRST exact $TWO
broken RESERVE exact $LAP
broken NO_TAIL_COMPARE exact $TWO
broken NO_TAIL_COMPARE twice $STREAM
broken NO_SEQ_COMPARE exact $ABA
broken BEFORE_FIRST exact $ABA
broken NO_CPU_COMPARE exact $MOVE
broken NO_FULL_RECHECK lostfull $DISCARD
broken LOST_PLAIN count $DISCARD
broken WEAK_STORES exact $FLIGHT
# ... the clock, ...
broken CLOCK_OUTSIDE order $TWO
broken CLOCK_EARLY steps $TWO
broken END_LATE window $TWO
broken NO_HOLD decode $BACK
broken NO_HOLD order $BACK
broken SWITCH_NO_HOLD window $BACK
broken BASE_TIME_FIRST decode $DIEGAP
broken BASE_UNCHECKED decode $DIEGAP
# ... the lock, ...
broken STEAL_LIVE mutex $LOCK
broken STEAL_LIVE exact $LOCK
broken OWN_LOCK_FREE mutex $LOCKNEST
broken NO_TAKEOVER progress $LOCK
broken NO_USE_COUNT mutex $REBORN
# ... the reader.
broken NO_UNSEQ exact $FLIGHT
broken NO_SECOND_LOOK exact $FLIGHT
broken NO_SEQ_LOOK exact $WRAP
broken SEQ_FROM_TAIL exact $WRAP
broken CONSUMED_FIRST exact $DISCARD

depth=-m100000 # of the models that follow; clearing the memory for more takes longer than most cases
# snapshot.pml. Flags: N, P, LAPS, STREAM as above; R records written; SNAPSHOTS readers at once; RESIZES of the ring.
model=snapshot
SNAP='-DR=5'
SNAPWRAP='-DP=1 -DR=8'
SNAPREC='-DSTREAM -DN=2 -DR=4'
SNAPRECWRAP='-DSTREAM -DN=2 -DP=1 -DR=6'
right "flight" $SNAP
right "flight, tail wraps" $SNAPWRAP
right "beside a recorder" $SNAPREC
right "beside a recorder, tail wraps" $SNAPRECWRAP
right "two at once beside a recorder" -DSTREAM -DN=2 -DP=1 -DR=2 -DSNAPSHOTS=2
seen lapped $SNAP
seen lost $SNAP
seen taken $SNAPREC
seen full $SNAPREC
broken NO_SECOND_LOOK exact $SNAP
broken NO_SECOND_LOOK twice $SNAP
broken NO_UNSEQ exact $SNAP
broken NO_SEQ_LOOK exact $SNAPWRAP
broken HEADER_LATE exact $SNAP
broken END_BEFORE count $SNAP
broken STREAM_UNCHECKED exact $SNAPREC
broken CONSUMED_BEFORE exact $SNAPREC
broken DISTANCE kept $SNAPREC
broken GIVES_BACK recorder $SNAPREC
SIZED='-DP=1 -DR=4 -DRESIZES=1'
SIZEDREC='-DSTREAM -DP=1 -DR=6 -DRESIZES=2 -DSNAPSHOTS=0'
right "resized" $SIZED
right "resized, a recorder" $SIZEDREC
right "resized, beside a recorder" -DSTREAM -DP=1 -DR=3 -DRESIZES=1
seen shorter $SIZED
seen longer $SIZEDREC
seen punched $SIZED
seen stray $SIZEDREC
broken LAP_BLIND recorder $SIZEDREC
broken FULL_BY_WINDOW recorder $SIZEDREC
broken PUNCH_EARLY whole $SIZED
broken PUNCH_NEXT whole $SIZED
broken PUNCH_UNMARKED exact $SIZED
broken PUNCH_UNREAD recorder $SIZEDREC

# kernel.pml. Flags: N, P, TICKS, BACKS, TM, STREAM, READ_LATE as above; DEPTHS rings of the CPU; R1 R2 R3 records of the
# programs; STOP: the recorder ends at any moment, and appends ENDS records; KILL: it is killed at any moment; WEAK: others see stores in any
# order, but for exchanges.
model=kernel
KFLIGHT='-DN=2 -DR1=2 -DR2=1'
KSTREAM='-DSTREAM -DN=2 -DR1=5 -DR2=0'
KNEST='-DREAD_LATE -DDEPTHS=2 -DR1=1 -DR2=1 -DR3=1'
KBUSY='-DREAD_LATE -DR1=1 -DR2=1 -DR3=1'
KCLOCK='-DREAD_LATE -DTICKS=3 -DBACKS=1 -DTM=2 -DP=4 -DR1=2 -DR2=1'
KEND='-DREAD_LATE -DSTOP -DENDS=1 -DR1=1 -DR2=1'
KDEAD='-DSTREAM -DKILL -DN=2 -DR1=3 -DR2=0'
KWEAK='-DWEAK -DN=2 -DR1=3 -DR2=0'
KWEAKEND='-DWEAK -DSTREAM -DREAD_LATE -DSTOP -DN=2 -DR1=3 -DR2=0'
right "flight reader" $KFLIGHT
right "stream reader" $KSTREAM
right "two depths, three programs" $KNEST
right "one depth, three programs" $KBUSY
right "clock steps back, reach" $KCLOCK
right "end, the recorder appends" $KEND
right "killed recorder" $KDEAD
right "flight reader, weak stores" $KWEAK
right "end, weak stores" $KWEAKEND
seen nested $KNEST
seen busy $KBUSY
seen full $KSTREAM
seen lapped $KFLIGHT
seen reached $KCLOCK
seen held $KCLOCK
seen refused $KEND
seen appended $KEND
seen orphaned $KDEAD
seen disordered $KWEAK
# The lock, the end, ...
broken NOT_REFUSED mutex $KFLIGHT
broken TAKE_PLAIN mutex $KFLIGHT
broken LOST_TWO_STEPS count $KBUSY
broken NO_RELEASE progress $KWEAKEND
broken STATE_EARLY mutex $KEND
broken STATE_LATE mutex $KEND
broken NO_WAIT mutex $KEND
# ... the order of stores, ...
broken NO_UNSEQ exact $KFLIGHT
broken NO_CLOSED exact $KFLIGHT
broken PUBLISH_FIRST exact $KFLIGHT
broken PUBLISH_EARLY count $KFLIGHT
broken PLAIN_UNSEQ exact $KWEAK
broken PLAIN_TAIL exact $KWEAK
broken PLAIN_TAIL handed $KWEAKEND
broken PLAIN_LOST count $KWEAKEND
# ... room and time, ...
broken NO_CONSUMED exact $KSTREAM
broken FULL_LATE kept $KDEAD
broken FULL_EARLY lostfull $KSTREAM
broken EVENTS_EARLY exact $KSTREAM
broken NO_HOLD order $KCLOCK
broken CLOCK_EARLY order $KCLOCK
broken NO_REACH decode $KCLOCK
# ... the reader.
broken NO_SECOND_LOOK exact $KFLIGHT
broken NO_SECOND_LOOK twice $KFLIGHT
broken CONSUMED_FIRST exact $KSTREAM

# names.pml. Flags: N, P as above; K threads; WIDE records of 1 and 2 words; FORMS compact first in a packet, then
# extended; READER a snapshot; DEATHS of holders and RETIRE, threads that end being needed: any, if not set.
model=names
CLEAN='-DK=6'
CLEANSMALL='-DP=1 -DK=6'
CLEANFORM='-DP=3 -DFORMS -DK=6'
CLEANREAD='-DP=1 -DK=5 -DREADER -DRETIRE=0 -DDEATHS=0'
right "compaction, death" $CLEAN
right "compaction, death, packets of one record" $CLEANSMALL
right "compaction, death, two sizes" -DP=3 -DWIDE -DK=6
right "compaction, death, extended form" $CLEANFORM
right "snapshot" $CLEANREAD
right "snapshot, death" -DP=1 -DK=4 -DREADER -DRETIRE=0 -DDEATHS=1
seen resumed $CLEAN
seen lost $CLEAN
seen taken $CLEANREAD
broken GIVE_FIRST kept $CLEAN
broken GIVE_FIRST named $CLEANREAD
broken NO_RESERVE room $CLEANSMALL
broken NO_SEARCH room $CLEAN
broken COPY_GROWS room $CLEAN
broken COMPACT room $CLEANFORM
broken IN_RESERVE room -DK=7 -DDEATHS=1
broken GIVE_UP fair $CLEAN
broken UNCHECKED exact $CLEANREAD
broken END_ONCE named $CLEANREAD
broken CONSUMED_LATE named $CLEANREAD

# filter.pml. Flags: K commands; TRACEPOINTS, PASSES of each; SCRIBBLE another process writes into the area.
model=filter
FILTER='-DK=2'
FILTERONE='-DK=3 -DTRACEPOINTS=1 -DPASSES=2'
right "two tracepoints" $FILTER
right "one tracepoint, two passes" $FILTERONE
right "scribbled upon" -DK=1 -DSCRIBBLE
seen shared $FILTER
seen changed $FILTER
seen bad -DK=1 -DTRACEPOINTS=1 -DPASSES=2 -DSCRIBBLE
broken SWITCH_FIRST rule $FILTER
broken OFFSET_FIRST rule $FILTER
broken USED_LAST rule $FILTERONE
broken IN_PLACE rule $FILTER
broken LOADS_SWAPPED rule $FILTER
broken SHARED_COPY verified -DK=1 -DSCRIBBLE

# switch.pml. Flags: K commands, EVENTS, NEWCOMERS that are registered meanwhile, LISTERS, TRIES of a lister.
model=switch
LIST='-DK=2 -DNEWCOMERS=0'
REGISTER='-DK=3 -DLISTERS=0'
right "listing" $LIST
right "registration" $REGISTER
right "listing, registration" -DK=1 -DEVENTS=1
seen repaired $LIST
seen again $LIST
seen halfway $LIST
broken NOT_REPAIRED listing $LIST
broken BYTES_ONLY listing $LIST
broken NO_SECOND_COUNT listing $LIST
broken NO_REPAIR truth $LIST
broken UNLOCKED between $REGISTER
broken STOP_FORGETS meant $REGISTER
broken HOPES progress $LIST

[ "$mode" = long ] || return 0
optimise=O2
memory=6000
buckets=-w24
depth=-m1000000
model=ring
right "long: handler, death" -DREAD_LATE -DR1=1 -DR2=1 -DHANDLER=1 -DR3=0 -DTICKS=1 -DKILL=1
right "long: two writers" -DREAD_LATE -DSTREAM -DN=3 -DR1=3 -DR2=3
right "long: three writers" -DREAD_LATE -DSTREAM -DN=3 -DWRITERS=3 -DR1=2 -DR2=1 -DR3=1 -DTICKS=1
right "long: migration, two moves" -DREAD_LATE -DRINGS=2 -DREADERS=2 -DMOVES=2 -DR1=2 -DR2=1 -DTICKS=1
right "long: handler, migration" -DREAD_LATE -DRINGS=2 -DREADERS=2 -DMOVES=1 -DHANDLER=1 -DR1=1 -DR2=1 -DR3=0 -DTICKS=0
right "long: two deaths" -DREAD_LATE -DSTREAM -DWRITERS=3 -DKILL=2 -DR1=1 -DR2=1 -DR3=2 -DTICKS=0
right "long: death, gaps" -DREAD_LATE -DSTREAM -DKILL=1 -DR1=2 -DR2=2 -DTM=2 -DTICKS=4 -DJUMP=3 -DP=6
right "long: clock steps back twice, gaps" -DREAD_LATE -DSTREAM -DR1=2 -DR2=2 -DTM=2 -DTICKS=4 -DJUMP=2 -DBACKS=2 -DP=6
right "long: locks, thread id used again" -DLOCKED -DREAD_LATE -DKILL=1 \
	-DREBORN=1 -DP=3 -DR1=1 -DR2=1 -DWRITERS=3 -DR3=1 -DTICKS=0 -DSAME=2 -DPROGRESS=0
right "long: locks, two deaths" -DLOCKED -DREAD_LATE -DKILL=2 -DWRITERS=3 -DR1=1 -DR2=2 -DR3=2 -DTICKS=1
right "long: flight reader" -DN=3 -DP=3 -DR1=2 -DR2=2 -DTICKS=2
right "long: flight reader, death" -DN=3 -DP=3 -DR1=2 -DR2=2 -DTICKS=0 -DKILL=1
right "long: flight reader, locks, handler, death" -DLOCKED -DP=3 -DR1=1 -DR2=1 -DR3=0 -DHANDLER=1 -DTICKS=0 -DKILL=1
right "long: flight reader, gaps" -DR1=2 -DR2=1 -DTM=2 -DTICKS=3 -DJUMP=2 -DP=5
right "long: stream reader" -DSTREAM -DR1=2 -DR2=2 -DTICKS=2
right "long: stream reader, death" -DSTREAM -DP=3 -DR1=2 -DR2=2 -DTICKS=0 -DKILL=1
right "long: writers, tail wraps" -DREAD_LATE -DLAPS=1 -DP=2 -DR1=2 -DR2=5 -DTICKS=1 -DSAME=1
right "long: two writers and a reader, tail wraps" -DP=2 -DR1=1 -DR2=5 -DTICKS=0 -DSAME=1
model=snapshot
right "long: flight" -DR=7
right "long: flight, tail wraps" -DP=1 -DR=10
right "long: beside a recorder" -DSTREAM -DN=3 -DR=5
right "long: beside a recorder, tail wraps" -DSTREAM -DN=2 -DP=1 -DR=9
right "long: resized" -DP=1 -DR=5 -DRESIZES=2
right "long: resized, beside a recorder" -DSTREAM -DP=1 -DR=4 -DRESIZES=1
right "long: two at once, flight" -DP=1 -DR=4 -DSNAPSHOTS=2
right "long: two at once beside a recorder" -DSTREAM -DN=2 -DP=1 -DR=3 -DSNAPSHOTS=2
model=kernel
right "long: flight reader" -DN=3 -DR1=3 -DR2=2
right "long: stream reader" -DSTREAM -DN=2 -DR1=3 -DR2=2
right "long: two depths, three programs" -DREAD_LATE -DDEPTHS=2 -DR1=2 -DR2=1 -DR3=1
right "long: clock steps back, reach" -DREAD_LATE -DTICKS=3 -DBACKS=1 -DTM=2 -DP=4 -DR1=2 -DR2=2
right "long: flight reader, the recorder appends" -DSTOP -DENDS=1 -DN=2 -DR1=2 -DR2=1
right "long: stream reader, the recorder appends" -DSTREAM -DSTOP -DENDS=2 -DN=2 -DR1=2 -DR2=1
right "long: killed recorder" -DSTREAM -DKILL -DN=2 -DR1=3 -DR2=1
right "long: flight reader, weak stores" -DWEAK -DN=2 -DR1=3 -DR2=1
right "long: flight reader, weak stores, a lap more" -DWEAK -DN=3 -DR1=5 -DR2=0
right "long: stream reader, the recorder appends, weak stores" -DWEAK -DSTREAM -DSTOP -DENDS=1 -DN=2 -DR1=2 -DR2=1
right "long: flight reader, weak stores, plain sequence" -DWEAK -DN=2 -DR1=3 -DR2=1 -DPLAIN_SEQUENCE
right "long: flight reader, weak stores, sequence first" -DWEAK -DN=2 -DR1=3 -DR2=1 -DSEQUENCE_FIRST
model=names
right "long: compaction, death" -DK=7
right "long: compaction, death, four packets" -DN=4 -DP=1 -DK=7
right "long: compaction, death, two sizes" -DP=3 -DWIDE -DK=7
right "long: compaction, death, extended form" -DP=4 -DFORMS -DK=7 -DDEATHS=2
right "long: snapshot, death, ends" -DP=1 -DK=4 -DREADER -DRETIRE=1 -DDEATHS=1
right "long: snapshot, four packets" -DN=4 -DP=1 -DK=5 -DREADER -DRETIRE=0 -DDEATHS=1
right "long: snapshot, packets of two records" -DP=2 -DK=5 -DREADER -DRETIRE=0 -DDEATHS=1
model=filter
right "long: two tracepoints" -DK=3
right "long: scribbled upon" -DK=2 -DSCRIBBLE
right "long: all copy to one place, without scribbling" -DK=2 -DSHARED_COPY
model=switch
right "long: listing" -DK=3 -DNEWCOMERS=0
right "long: listing, registration" -DK=2
right "long: listing, registration, one try" -DK=2 -DTRIES=1
right "long: two listings" -DK=1 -DNEWCOMERS=0 -DLISTERS=2

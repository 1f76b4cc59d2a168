/* SPDX-License-Identifier: MIT */
/*
 * Models queue tasks (A6, A12). Producers, who may be threads or the host, append to a small circular queue whose
 * tickets wrap. The firmware arms, is told, and lets CTAs begin. CTAs on two SMs read entries and give their cells
 * back. The slot parks when it has nothing left. Somebody closes the queue at any time. Each statement that touches a
 * shared word is one step.
 *
 * What is proved: every entry for which a ticket was taken is read, once, as it was written, by the CTA of its number;
 * nothing is taken after the queue is closed; the task then ends, and nobody hangs.
 *
 * A mutation (-DMUTATE_...) is one mistake in the protocol; check.py proves that each is found.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef EACH
#define EACH 1 /* entries of a producer */
#endif
#ifndef ENTRIES
#define ENTRIES 2
#endif
#ifndef SMS
#define SMS 2
#endif
#define PERIOD (2 * ENTRIES) /* of tickets */
#define FIRST (PERIOD - 1)   /* ticket of entry 0: they wrap at once */
#define WORK (PRODUCERS * EACH)
#define NOTHING 255

#define TICKET(number) ((FIRST + (number)) % PERIOD)
#define NEXT(ticket) (((ticket) + 1) % PERIOD)
#define PLACE(ticket) ((ticket) % ENTRIES)

/* ---- shared words ---- */
byte tail;   /* next ticket */
bool closed; /* the other bits of the same word */
byte sequence[ENTRIES];
byte data[ENTRIES];
bool armed;

/* ---- what has been said and not heard ---- */
byte told;   /* start requests of threads, FEED of the host */
bool parked; /* the slot's event */

/* ---- the slot: registers between firmware and device ---- */
bool running;
byte limit; /* so many CTAs may begin */
byte next;  /* number of the CTA that begins next */
byte busy;  /* CTAs that have begun and not ended */

/* ---- what the proof remembers ---- */
byte order[WORK]; /* what was written, in the order of the tickets */
byte taken;       /* tickets */
byte ran;         /* CTAs that have read their entry */
bool ended;       /* the task is complete */

/* Word by word: whoever finds the task armed tells. */
inline tell(was_armed)
{
    d_step { was_armed = armed; armed = false };
    if
    :: was_armed -> told++
    :: else
    fi
}

/* The compare-and-swap of tail; what the proof remembers comes with it. */
inline take_ticket(what, seen, mine)
{
    d_step {
#ifdef MUTATE_TICKET
        tail = NEXT(seen);
        mine = true;
#else
        if
        :: tail == seen && !closed -> tail = NEXT(seen); mine = true
        :: else -> mine = false
        fi;
#endif
        if
        :: mine -> assert(!closed && taken < WORK); order[taken] = what; taken++
        :: else
        fi
    }
}

proctype producer(byte me)
{
    byte piece = 0;
    byte seen, owner;
    bool mine, refused = false, was_armed;

    do
    :: piece < EACH && !refused ->
        mine = false;
        do
        :: !mine && !refused ->
            d_step { seen = tail; refused = closed };
            if
            :: refused -> skip
            :: else ->
                owner = sequence[PLACE(seen)];
#ifdef MUTATE_FULL
                take_ticket(me * EACH + piece, seen, mine)
#else
                if
                :: owner == seen -> take_ticket(me * EACH + piece, seen, mine)
                :: else -> (sequence[PLACE(seen)] != owner || tail != seen || closed)
                fi
#endif
            fi
        :: else -> break
        od;
        if
        :: mine ->
#ifdef MUTATE_PUBLISH_FIRST
            sequence[PLACE(seen)] = NEXT(seen);
#endif
            data[PLACE(seen)] = me * EACH + piece;
#ifdef MUTATE_LOOK_FIRST
            tell(was_armed);
            sequence[PLACE(seen)] = NEXT(seen)
#else
#ifndef MUTATE_PUBLISH_FIRST
            sequence[PLACE(seen)] = NEXT(seen);
#endif
            tell(was_armed)
#endif
        :: else
        fi;
        piece++
    :: else -> break
    od
}

proctype closer()
{
    bool was_armed;
#ifdef MUTATE_CLOSE
    byte seen = tail;
    d_step { tail = seen; closed = true };
#else
    closed = true;
#endif
#ifndef MUTATE_CLOSE_SILENT
    tell(was_armed)
#endif
}

/* Entries that follow without a gap. */
inline look()
{
    do
    :: sequence[PLACE(TICKET(published))] == NEXT(TICKET(published)) -> published++
    :: else -> break
    od
}

proctype firmware()
{
    byte published = 0;
    byte before;
    bool has_slot = false;

    do
    :: ended -> break
    :: !ended && (told > 0 || parked) ->
        if
        :: parked ->
            parked = false;
            has_slot = false;
#ifdef MUTATE_PARKED_FORGOTTEN
            goto next_event
#endif
        :: told > 0 -> told--
        fi;
        /* taskq_serve() */
        do
        :: true ->
            look();
            armed = true;
#ifdef MUTATE_NO_SECOND_LOOK
            break
#else
            before = published;
            look();
            if
            :: published == before -> break
            :: else
            fi
#endif
        od;
        if
        :: has_slot -> limit = published /* of no effect on a slot that has just parked */
        :: !has_slot && published != next -> d_step { limit = published; running = true; has_slot = true }
#ifdef MUTATE_ENDS_EARLY
        :: !has_slot && published == next && closed -> ended = true
#else
        :: !has_slot && published == next && closed ->
            if
            :: tail == TICKET(published) -> ended = true
            :: else
            fi
#endif
        :: else
        fi;
next_event:
        skip
    od;
    assert(ran == taken && busy == 0)
}

/* Parks when nothing can begin and nothing runs. */
proctype slot()
{
    do
    :: ended -> break
    :: d_step { running && next == limit && busy == 0 -> running = false; parked = true }
    od
}

proctype sm()
{
    byte mine, what;

    do
    :: ended -> break
    :: d_step { running && next < limit -> mine = next; next++; busy++ };
        assert(sequence[PLACE(TICKET(mine))] == NEXT(TICKET(mine)));
#ifdef MUTATE_FREED_EARLY
        sequence[PLACE(TICKET(mine))] = TICKET(mine + ENTRIES);
#endif
        what = data[PLACE(TICKET(mine))];
        d_step { assert(what == order[mine]); ran++ };
#ifndef MUTATE_FREED_EARLY
        d_step { data[PLACE(TICKET(mine))] = NOTHING; sequence[PLACE(TICKET(mine))] = TICKET(mine + ENTRIES) };
#endif
        d_step { what = 0; mine = 0; busy-- }
    od
}

init
{
    byte i = 0;

    atomic {
        do
        :: i < ENTRIES -> sequence[PLACE(TICKET(i))] = TICKET(i); data[i] = NOTHING; i++
        :: else -> break
        od;
        tail = TICKET(0);
        told = 1; /* the launch: its turn has come */
        i = 0;
        do
        :: i < PRODUCERS -> run producer(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < SMS -> run sm(); i++
        :: else -> break
        od;
        run slot();
        run closer();
        run firmware()
    }
}

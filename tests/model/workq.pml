/* SPDX-License-Identifier: MIT */
/*
 * Models reserve, publish, release and consume on a work queue (C3, C4): threads on a small ring whose counters wrap, so that
 * entries, blocks and semaphores are used again and again. Each statement that touches a shared word is one step.
 *
 * What is proved: every piece of work runs, once, in the order of the reservations; no entry, block or semaphore is written by
 * anyone but who has it; nobody hangs.
 *
 * A mutation (-DMUTATE_...) is one mistake in the protocol; check.py proves that each is found.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef EACH
#define EACH 2 /* reservations of a thread */
#endif
#ifndef ENTRIES
#define ENTRIES 6
#endif
#ifndef FIRST
#define FIRST 2 /* GP_GET at first: counters begin just before they wrap */
#endif
#define PERIOD (2 * ENTRIES)
#define WORK (THREADS * EACH)
#define NOTHING 255
#define ACQUIRE 254 /* the block that acquires its own entry's semaphore */

#define ADD(a, b) (((a) + (b)) % PERIOD)
#define DISTANCE(from, to) (((to) + PERIOD - (from)) % PERIOD)

/* ---- shared words ---- */
byte soft_put;
byte shadow_put;
byte block[ENTRIES];
bool sem[ENTRIES];

/* ---- what the proof remembers ---- */
byte order[WORK]; /* work in the order of the reservations */
byte reserved = 0;
byte executed = 0;
byte owner[ENTRIES]; /* thread + 1 that has it; 0: nobody, or the firmware */
byte working = THREADS;

/* The exchange and, with it, what the proof remembers of it. */
inline reserve(who, what, at)
{
    d_step {
#ifdef MUTATE_RESERVE
        soft_put = ADD(at, 2);
        taken = true;
#else
        if
        :: soft_put == at -> soft_put = ADD(at, 2); taken = true
        :: else -> taken = false
        fi;
#endif
        if
        :: taken ->
            assert(owner[at % ENTRIES] == 0 && owner[ADD(at, 1) % ENTRIES] == 0);
            owner[at % ENTRIES] = who + 1;
            owner[ADD(at, 1) % ENTRIES] = who + 1;
            order[reserved] = what;
            reserved++
        :: else
        fi
    }
}

inline hand_over(counter)
{
    d_step { owner[counter % ENTRIES] = 0; owner[ADD(counter, 1) % ENTRIES] = 0 }
}

/* ---- C3: threads. A piece of work takes two entries: its block, and the acquire. ---- */
proctype thread(byte me)
{
    byte piece = 0;
    byte seen, shadow;
    bool taken = false;

    do
    :: piece < EACH ->
        taken = false;
        do
        :: !taken ->
#ifdef MUTATE_READ_ORDER
            shadow = shadow_put;
            seen = soft_put;
#else
            seen = soft_put;
            shadow = shadow_put;
#endif
            if
#ifdef MUTATE_ONE_TOO_MANY
            :: DISTANCE(seen, shadow) >= 1 -> reserve(me, me * EACH + piece, seen)
#else
            :: DISTANCE(seen, shadow) >= 2 -> reserve(me, me * EACH + piece, seen)
#endif
            :: else -> (shadow_put != shadow || soft_put != seen)
            fi
        :: else -> break
        od;
#ifdef MUTATE_CLEAR_AT_RESERVATION
        sem[ADD(seen, 1) % ENTRIES] = false;
#endif
#ifdef MUTATE_RELEASE_FIRST
        sem[ADD(seen, PERIOD - 1) % ENTRIES] = true;
#endif
        block[seen % ENTRIES] = me * EACH + piece;
        block[ADD(seen, 1) % ENTRIES] = ACQUIRE;
        hand_over(seen);
#ifndef MUTATE_RELEASE_FIRST
        assert(!sem[ADD(seen, PERIOD - 1) % ENTRIES]);
        sem[ADD(seen, PERIOD - 1) % ENTRIES] = true;
#endif
        piece++
    :: else -> break
    od;
    working--
}

/* ---- the firmware: executes the entry at GP_GET, then gives it back ---- */
proctype firmware()
{
    byte get = FIRST;
    byte what;

    do
    :: true ->
        what = block[get % ENTRIES];
        if
        :: what == ACQUIRE ->
            if
            :: sem[get % ENTRIES] -> skip
            :: executed == WORK && working == 0 -> break
            fi
        :: else ->
            assert(what != NOTHING);
            assert(executed < WORK && order[executed] == what);
            executed++
        fi;
        assert(owner[get % ENTRIES] == 0);
#ifndef MUTATE_NOT_CLEARED
        sem[get % ENTRIES] = false;
#endif
        block[get % ENTRIES] = NOTHING;
        get = ADD(get, 1);
        shadow_put = ADD(shadow_put, 1)
    od
}

init
{
    byte i = 0;

    atomic {
        do
        :: i < ENTRIES -> block[i] = NOTHING; i++
        :: else -> break
        od;
        block[FIRST % ENTRIES] = ACQUIRE;
        soft_put = ADD(FIRST, 1);
        shadow_put = ADD(FIRST, ENTRIES - 1);
        i = 0;
        do
        :: i < THREADS -> run thread(i); i++
        :: else -> break
        od;
        run firmware()
    }
}

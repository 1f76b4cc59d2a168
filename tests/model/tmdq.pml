/* SPDX-License-Identifier: MIT */
/*
 * Models launch (B4) and completion (B6) of one TMDQ: threads of a grid that launch at the same time and may be swapped out, the
 * scheduler, and whatever runs the tasks. Each statement that touches a shared word is one step, as one atomic operation
 * of the machine is.
 *
 * What is proved, by assertions and by the absence of invalid end states: every launched task runs, once, in the order
 * of the exchanges, one at a time; nobody hangs; a record is not touched after it was given back, nor the context after it was closed;
 * the parent goes on when all its children have completed, and not before.
 *
 * A mutation (-DMUTATE_...) is one mistake in the protocol; check.py proves that each is found.
 */
#ifndef LAUNCHERS
#define LAUNCHERS 2
#endif
#ifndef EACH
#define EACH 2 /* tasks of a launcher, launched one after the other */
#endif
#define TASKS (LAUNCHERS * EACH)

/* Task numbers are 1 to TASKS. */
#define NULL 0
#define WAITING 255

mtype = { UNUSED, LAUNCHED, RUNNING, LINKING, FREED };

/* ---- shared words ---- */
byte last_task = NULL;
byte next_stream[TASKS + 1];
byte work = 0;

/* ---- events to the scheduler, in the order they were sent ---- */
chan start_ring = [TASKS] of { byte, byte }; /* task, former */
chan done_ring = [TASKS] of { byte };
bool waits = false; /* the parent has been saved and waits for its children */

/* ---- what the proof remembers ---- */
mtype state[TASKS + 1] = UNUSED;
byte order[TASKS]; /* tasks in the order of their exchanges */
byte exchanged = 0;
byte started = 0;
byte running = 0;
byte launching = LAUNCHERS;
bool resumed = false;
bool closed = false;

/* ---- atomic operations of the machine ---- */
inline exchange(word, value, old)
{
    d_step { old = word; word = value }
}

/* The former value of last_task, and the place in the order that comes with it. */
inline exchange_last(task, old)
{
#ifdef MUTATE_EXCHANGE_LAST
    old = last_task;
    d_step { last_task = task; order[exchanged] = task; exchanged++ }
#else
    d_step { old = last_task; last_task = task; order[exchanged] = task; exchanged++ }
#endif
}

/*
 * A launcher outside its critical section may be swapped out at any time; it comes back when what was launched has completed, which
 * is the latest that a scheduler could choose.
 */
inline may_be_swapped_out()
{
    if
    :: skip
    :: true -> (work == 0 || closed)
    fi
}

#ifdef MUTATE_NO_SECTION
#define INSIDE_SECTION may_be_swapped_out()
#else
#define INSIDE_SECTION skip
#endif

/* ---- B4: threads ---- */
proctype launcher(byte first)
{
    byte task = first;
    byte former, link;

    do
    :: task < first + EACH ->
        may_be_swapped_out();
        next_stream[task] = NULL;
        state[task] = LAUNCHED;
#ifndef MUTATE_LATE_COUNT
        d_step { work++ }
#endif
        /* csenter */
        exchange_last(task, former);
        INSIDE_SECTION;
        if
        :: former == NULL -> start_ring ! task, NULL
        :: else ->
            assert(state[former] != FREED);
#ifdef MUTATE_EXCHANGE_NEXT
            link = next_stream[former];
            next_stream[former] = task;
#else
            exchange(next_stream[former], task, link);
#endif
            INSIDE_SECTION;
            if
            :: link == WAITING -> start_ring ! task, former
            :: else -> assert(link == NULL)
            fi
        fi;
        /* csleave */
#ifdef MUTATE_LATE_COUNT
        atomic { work++ }
#endif
        task++
    :: else -> break
    od;
    atomic { launching--; former = 0; link = 0 }
}

/* ---- B7: the parent, when all its threads have launched ---- */
proctype parent()
{
    (launching == 0);
    waits = true;
    (resumed);
    assert(started == TASKS && running == 0 && last_task == NULL);
    closed = true
}

/* ---- the SMs ---- */
proctype machine()
{
    do
    :: (running != 0) -> atomic { done_ring ! running; running = 0 }
    :: (closed) -> break
    od
}

/* ---- the scheduler: one event at a time, each run to its end ---- */
inline start(task)
{
    d_step {
        assert(state[task] == LAUNCHED);
        assert(running == 0);
        assert(order[started] == task);
        state[task] = RUNNING;
        started++;
        running = task
    }
}

inline release(task)
{
    d_step { assert(state[task] != FREED); state[task] = FREED }
}

inline wake_parent()
{
    if
    :: work == 0 && waits && !resumed -> resumed = true
    :: else -> skip
    fi
}

inline complete(task)
{
    assert(!closed);
    d_step { assert(work != 0); work-- }
#ifdef MUTATE_EARLY_ZERO
    wake_parent();
#endif
    last_one = false;
    if
    :: last_task == task ->
        assert(!closed);
#ifdef MUTATE_CAS
        last_task = NULL;
        last_one = true
#else
        d_step {
            if
            :: last_task == task -> last_task = NULL; last_one = true
            :: else -> skip
            fi
        }
#endif
    :: else -> skip
    fi;
    assert(!closed);
    if
    :: last_one -> release(task)
    :: else ->
#ifdef MUTATE_WAITING
        follower = next_stream[task];
        next_stream[task] = WAITING;
#else
        exchange(next_stream[task], WAITING, follower);
#endif
        if
        :: follower == NULL ->
#ifdef MUTATE_FREED_TOO_SOON
            release(task)
#else
            state[task] = LINKING
#endif
        :: else -> start(follower); release(task)
        fi
    fi;
    d_step { last_one = false; follower = 0 }
#ifndef MUTATE_EARLY_ZERO
    wake_parent()
#endif
}

proctype scheduler()
{
    byte task, former, follower;
    bool last_one;

    do
    :: start_ring ? task, former ->
        if
        :: former != NULL -> assert(state[former] == LINKING); release(former)
        :: else -> skip
        fi;
        start(task);
        d_step { task = 0; former = 0 }
    :: done_ring ? task ->
        complete(task);
        task = 0
    :: (waits && work == 0 && !resumed) -> wake_parent()
    :: (closed) -> break
    od
}

init
{
    byte i = 0;

    atomic {
        do
        :: i < LAUNCHERS -> run launcher(1 + i * EACH); i++
        :: else -> break
        od;
        run parent();
        run machine();
        run scheduler()
    }
}

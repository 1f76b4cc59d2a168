/* SPDX-License-Identifier: MIT */
/*
 * Models how the firmware moves token queues that have come to an end of their space (E7). A warp asks before the
 * instruction, by an entry of a ring, and waits; the firmware answers by a word of the warp's place. Meanwhile the warp
 * may be killed, or saved and restored, and another one may be there; the SM may become the one who moves. Each
 * statement that touches a shared word is one step.
 *
 * What is proved: a queue never leaves its space, whoever an answer was for, and no warp waits for ever.
 *
 * A mutation (-DMUTATE_...) is one mistake in the protocol; check.py proves that each is found.
 */
#ifndef ENTRIES
#define ENTRIES 6 /* of a queue's space */
#endif
#ifndef TURNS
#define TURNS 3 /* of a warp: yields, each of which moves its tokens by one */
#endif
#define WARPS 3

#define COUNT(warp) ((warp) % 2 == 0 -> 1 : ENTRIES - 1) /* tokens: few, or all but one */
#define MIDDLE(tokens) ((ENTRIES - (tokens)) / 2)

/* ---- shared between SM and firmware ---- */
chan ring = [1] of { byte, byte }; /* place and tokens of who asks */
byte answer[2];                    /* of each place: entry + 1; 0: none */
bool by_sm;                        /* the register TOKEN_HANDLER */

/* ---- the warp ---- */
byte number, turns, first;
bool asked;

inline ask()
{
#ifndef MUTATE_CLEARED_LATE
    answer[0] = 0;
#endif
    if
    :: nfull(ring) -> ring ! 0, COUNT(number); asked = true
    :: full(ring) ->
#ifdef MUTATE_FULL_FORGOTTEN
        asked = true
#else
        asked = false /* it stands where it stood, and asks again */
#endif
    fi;
#ifdef MUTATE_CLEARED_LATE
    answer[0] = 0
#endif
}

inline take()
{
    d_step { taken = answer[0]; answer[0] = 0; asked = false };
    if
#ifdef MUTATE_UNCHECKED
    :: true -> first = taken - 1
#else
    :: taken - 1 <= ENTRIES - COUNT(number) -> first = taken - 1
    :: else -> skip /* it was for another */
#endif
    fi
}

/* A yield: a token at the back, and the one at the front is gone. */
inline run_turn()
{
    d_step { first++; turns++; assert(first + COUNT(number) <= ENTRIES) }
}

/* It begins at an end of its space. */
inline next_warp()
{
    d_step { number++; turns = 0; asked = false; first = ENTRIES - COUNT(number) }
}

proctype sm()
{
    byte taken;
    bool may_kill = true, may_save = true; /* each once: what waits must go on without them */

    do
    :: number == WARPS -> break
    :: number < WARPS && turns == TURNS -> next_warp()
    :: number < WARPS && turns < TURNS && may_kill -> /* the place is another's */
        may_kill = false; next_warp()
    :: number < WARPS && turns < TURNS && asked && may_save -> d_step { may_save = false; asked = false }
    :: number < WARPS && turns < TURNS && by_sm ->
        asked = false;
        if
        :: first + COUNT(number) == ENTRIES -> first = MIDDLE(COUNT(number))
        :: else
        fi;
        run_turn()
    :: number < WARPS && turns < TURNS && !by_sm && (!asked || answer[0] != 0) ->
        if
        :: asked -> take()
        :: else
        fi;
        if
        :: first + COUNT(number) < ENTRIES -> run_turn()
        :: else -> ask()
        fi
    od
}

proctype firmware()
{
    byte place, tokens;

end:
    do
    :: ring ? place, tokens -> answer[place] = MIDDLE(tokens) + 1
    od
}

/* Warps of other places ask too, so that the ring may be full. */
proctype others()
{
    ring ! 1, 1;
    ring ! 1, 1
}

/* Somebody sets the register, once each way. */
proctype host()
{
    by_sm = true;
    by_sm = false
}

init
{
    atomic {
        first = ENTRIES - COUNT(0);
        run sm();
        run others();
        run firmware();
        run host()
    }
}

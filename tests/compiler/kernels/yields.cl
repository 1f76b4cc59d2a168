/* SPDX-License-Identifier: MIT */
/* Shows who goes first where some of a warp's work-items yield (E6). */

/* Each tells when it came through: the first has yielded, the others have not. */
kernel void order(global int *out, global int *turn)
{
    if (get_local_id(0) == 0) {
        ppu_yield();
    }
    out[get_local_id(0)] = atomic_inc(turn);
}

/* The same with a yield that never happens: they meet again behind the branch, and the first work-item is first. */
kernel void never(global int *out, global int *turn)
{
    if (get_local_id(0) == 0) {
        ppu_yield_chance(0);
    }
    out[get_local_id(0)] = atomic_inc(turn);
}

/* The third time the first work-item comes there it yields. */
kernel void third(global int *out, global int *turn)
{
    for (int i = 0; i < 3; i++) {
        if (get_local_id(0) == 0) {
            ppu_yield_every(3);
        }
        out[8 * i + get_local_id(0)] = atomic_inc(turn);
    }
}

/* Even work-items exchange 1 until they read it, odd ones 0: each undoes what the others wait for. */
kernel void undone(global int *out, global int *cell)
{
    int mine = 1 - (get_local_id(0) & 1);

    while (atomic_xchg(cell, mine) != mine) {
    }
    out[get_local_id(0)] = mine + 1;
}

/*
 * Each counts its own turns, and all but the last lane end inside: the counter is each one's own, as one of 256 yields
 * lets some of them go on alone.
 */
kernel void counted(global int *out, global int *turns)
{
    int t = get_local_id(0);

    turns[0] = 3000;
    for (int i = 0; i < turns[0] - 64 * t; i++) {
        out[t] += 1;
    }
}

/* The same where all have as many turns. */
kernel void counted_alike(global int *out, global int *turns)
{
    int t = get_local_id(0), sum = 0;

    turns[0] = 3000;
    for (int i = 0; i < *(volatile global int *)turns; i++) {
        sum += i;
    }
    out[t] = sum;
}

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

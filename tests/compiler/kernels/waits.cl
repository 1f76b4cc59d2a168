/* SPDX-License-Identifier: MIT */
/*
 * Defines kernels of which some may wait for children (B7): those that reach a wait, whatever way and however seldom.
 */

void ppu_wait_children(void);

__attribute__((noinline)) void wait_deeply(void)
{
    ppu_wait_children();
}

__attribute__((noinline)) int through(int x)
{
    if (x == 12345) {
        wait_deeply();
    }
    return x + 1;
}

kernel void direct(global int *out)
{
    out[get_global_id(0)] = 1;
    ppu_wait_children();
    out[get_global_id(0)] += 1;
}

kernel void called(global int *out)
{
    out[get_global_id(0)] = through(out[get_global_id(0)]);
}

kernel void never(global int *out)
{
    if (sizeof(out) == 1) {
        ppu_wait_children();
    }
    out[get_global_id(0)] = 3;
}

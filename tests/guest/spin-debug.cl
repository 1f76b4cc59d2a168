/* SPDX-License-Identifier: MIT */
/* Spins until the host writes, as spin_until of tests/kernels/spin.s does, with a variable to look at. */
kernel void spin_until(global volatile uint *gate)
{
    uint turns = 0;
    while (*gate == 0)
        turns++;
}

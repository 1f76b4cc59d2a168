# SPDX-License-Identifier: MIT
# Makes a barrier of atomics over the whole grid, whose CTAs run at the same time because the kernel asks for it.

# Parameters: a word that counts arrivals, a word that counts those that saw all, threads of the grid. Two rounds.
.kernel grid_barrier
.vregs 16
.param 24
.coresident
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    mov v0, 0
    mov v1, 1
    mov v3, 0
round:
    add v3, v3, s4
    atomg.add.acq_rel.dev _, [s0+v0], v1
wait:
    ldg.b32 v2, [s0]
    isetp.geu p0, v2, v3
    @p0 bra all
    yield
    bra wait
all:
    isetp.eq p1, v3, s4
    @p1 bra round
    atomg.add.relaxed.dev _, [s2+v0], v1
    exit

# SPDX-License-Identifier: MIT
# Lanes of one warp that wait for each other (E6).

# Each thread takes one lock four times, and adds 1 to what the lock protects by a load and a store. The holder may be a
# lane that divergence has disabled: the yield lets it go on.
# parameters: 0 memory (address): words: 0 the lock, 4 what it protects
.kernel locked
.param 8
    ldp.b64 s0, [0]
    mov v1, 4                   # times left
    mov v2, 0                   # offset of the lock
    mov v8, 0                   # a free lock,
    mov v9, 1                   # and one that is taken
lock_again:
    atomg.cas.acquire.dev v5, [s0+v2], v8
    isetp.eq p0, v5, 0
    @p0 bra lock_taken
    yield
    bra lock_again
lock_taken:
    ldg.b32 v6, [s0+4]
    add v6, v6, 1
    stg.b32 v6, [s0+4]
    atomg.xchg.release.dev _, [s0+v2], v8
    sub v1, v1, 1
    isetp.ne p0, v1, 0
    @p0 bra lock_again
    exit

# Even lanes exchange 1 until they read 1, odd ones 0 until they read 0: each undoes what the other waits for. A yield
# lets one side go twice now and then, by chance, and a lane that does ends.
# parameters: 0 memory (address): words: 8 what is exchanged, 12 threads that ended
.kernel undone
.param 8
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    and v1, v0, 1
    xor v1, v1, 1
    mov v2, 8
    mov v3, 12
    mov v4, 1
exchange:
    atomg.xchg.acq_rel.dev v5, [s0+v2], v1
    isetp.eq p0, v5, v1
    @p0 bra exchange_done
    yield
    bra exchange
exchange_done:
    atomg.add.relaxed.dev _, [s0+v3], v4
    exit

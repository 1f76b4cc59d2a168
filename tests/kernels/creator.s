# SPDX-License-Identifier: MIT
# Puts launches into a work queue by every thread, one after the other. Parameters: 0 queue, 8 TMD of the kernel to
# launch, 16 counters, 24 scratch: 64 bytes a thread (addresses), 32 launches a thread, 36 1: the task may wait, 40 1:
# the last thread ends the round, 44 stream. counters: 0 launched, 4 refused because full, 8 refused for ever, 12
# threads to come (counts down), 16 result of the end. The launched kernel's parameters are 16 bytes: its number (global
# thread id * launches + i), zero, address of the counters.
.kernel creator
.param 48
.wait
.launch
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    ldp.b32 s8, [32]
    ldp.b32 s9, [36]
    ldp.b32 s10, [40]
    ldp.b32 s11, [44]
    rdsr v0, %tid.x
    rdsr v1, %ntid.x
    rdsr v2, %cta.x
    mad v0, v2, v1, v0          # global thread id
    mulwu v4, v0, 64
    add64 v4, v4, s6            # own scratch
    mov v6, 0                   # launches done
    mul v7, v0, s8
again:
    isetp.geu p0, v6, s8
    @p0 bra launched
    add v8, v7, v6
    mov v9, 0
    stg.b64 v8, [v4]
    mov64 v8, s4
    stg.b64 v8, [v4+8]
    mov64 v16, s0
    mov v18, s11
    mov v19, s9
    mov64 v20, s2
    mov64 v22, v4
    mov v24, 16
    call v15, workq_launch
    shl v10, v16, 2             # which counter
    mov v11, 0
    add64 v10, v10, s4
    mov v8, 1
    atomg.add _, [v10], v8
    add v6, v6, 1
    bra again
launched:
    isetp.eq p0, s10, 0
    @p0 exit
    mov64 v10, s4
    add64 v12, v10, 12
    mov v8, -1
    atomg.add.acq_rel.dev v9, [v12], v8
    isetp.ne p0, v9, 1
    @p0 exit
    mov64 v16, s0
    ldg.b32 v18, [v16+192]
    mov v19, s9
    call v15, workq_end
    stg.b32 v16, [v10+16]
    exit

# One thread notes that it ran: counters + 20 counts, and the numbers follow in order from counters + 64 on.
.kernel noted
.param 16
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b32 s0, [0]
    ldp.b64 s2, [8]
    mov64 v2, s2
    mov v4, 1
    add64 v6, v2, 20
    atomg.add v5, [v6], v4
    mulwu v6, v5, 4
    add64 v6, v6, v2
    mov v8, s0
    stg.b32 v8, [v6+64]
    exit

# One thread puts one launch into a queue. Parameters: 0 queue, 8 TMD, 16 parameters of the launch, 24 where the result goes (addresses),
# 32 bytes of the parameters.
.kernel starter
.param 40
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    ldp.b32 s8, [32]
    mov64 v16, s0
    mov v18, -1
    mov v19, 0
    mov64 v20, s2
    mov64 v22, s4
    mov v24, s8
    call v15, workq_launch
    mov64 v2, s6
    stg.b32 v16, [v2]
    exit

# One thread does wrong. Parameters: 0 queue, 8: 0 reserves two entries and ends; 1 publishes a block whose header is no header; 2
# publishes an entry that points nowhere; 3 reserves more than ever can be; 4 asks for a queue that is none; 16 where a result goes.
.kernel spoiler
.param 24
.wait
.launch
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b32 s2, [8]
    ldp.b64 s4, [16]
    mov64 v2, s4
    isetp.eq p0, s2, 4
    @p0 bra ask
    mov64 v16, s0
    mov v18, 2
    isetp.eq p0, s2, 3
    @p0 mov v18, 100000
    mov v19, 0
    call v15, workq_reserve
    stg.b32 v17, [v2]
    isetp.eq p0, s2, 0
    isetp.eq p1, s2, 3
    por p0, p0, p1
    @p0 exit
    mov v60, v16
    mov64 v16, s0
    mov v18, v60
    mov v19, 16
    call v15, workq_point
    mov64 v16, s0
    mov v18, v60
    call v15, workq_block
    mov v4, 0x00100007
    isetp.eq p0, s2, 1
    @p0 stg.b32 v4, [v16]
    @p0 bra publish
    ldg.b32 v24, [s0+4]
    remu v4, v60, v24
    mov v5, 0
    shl64 v4, v4, 3
    add64 v4, v4, s0
    mov v6, 64
    mov v7, 0x00107fff         # 16 words at 0x7fff00000040
    stg.b64 v6, [v4+384]
publish:
    mov64 v16, s0
    mov v18, v60
    mov v19, 2
    call v15, workq_publish
    exit
ask:
    mov v4, 0
    mov v5, 0x3ff
    tstart v4, v5
asked:                          # until it is killed for it
    yield
    bra asked

# One thread makes one reservation of many entries: block i releases semaphore i with i + 1 and the time. Parameters: 0 queue, 8
# semaphores, 16 result (addresses), 24 how many.
.kernel batch
.param 32
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b32 s8, [24]
    mov64 v16, s0
    add v18, s8, 1
    mov v19, 0
    call v15, workq_reserve
    mov64 v2, s4
    stg.b32 v17, [v2]
    isetp.ne p0, v17, 0
    @p0 exit
    mov v60, v16                # counter
    mov v61, 0                  # block
    mov64 v62, s2               # its semaphore
batch_next:
    isetp.geu p0, v61, s8
    @p0 bra batch_filled
    mov64 v16, s0
    add v18, v60, v61
    call v15, workq_block
    mov v4, 0x00040002
    mov v5, v62
    mov v6, v63
    add v7, v61, 1
    stg.b128 v4, [v16+16]
    mov v4, 1
    stg.b32 v4, [v16+32]
    mov64 v16, s0
    add v18, v60, v61
    mov v19, 9
    call v15, workq_point
    mov v4, 16
    mov v5, 0
    add64 v62, v62, v4
    add v61, v61, 1
    bra batch_next
batch_filled:
    mov64 v16, s0
    mov v18, v60
    add v19, s8, 1
    call v15, workq_publish
    exit

# Each thread makes one reservation, and publishes it when its turn has come. Parameters: 0 queue, 8 semaphores (16 bytes a
# thread), 16 turns (4 bytes a thread), 24 counters reserved (4 bytes a thread), 32 the turn it is (addresses).
.kernel permuted
.param 40
.wait
.launch
.save
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    ldp.b64 s8, [32]
    rdsr v0, %tid.x
    rdsr v1, %ntid.x
    rdsr v2, %cta.x
    mad v60, v2, v1, v0
    mov64 v16, s0
    mov v18, 2
    mov v19, 0
    call v15, workq_reserve
    isetp.ne p0, v17, 0
    @p0 trap 1
    mov v61, v16
    mulwu v4, v60, 4
    add64 v6, v4, s6
    stg.b32 v61, [v6]
    add64 v6, v4, s4
    ldg.b32 v62, [v6]           # own turn
    mov64 v16, s0
    mov v18, v61
    call v15, workq_block
    mulwu v6, v60, 16
    add64 v6, v6, s2
    mov v4, 0x00040002
    mov v5, v6
    mov v6, v7
    mov v7, 1
    stg.b128 v4, [v16+16]
    mov v4, 1
    stg.b32 v4, [v16+32]
    mov64 v16, s0
    mov v18, v61
    mov v19, 9
    call v15, workq_point
turn:
    mov64 v4, s8
    ldg.b32 v6, [v4]
    fence.acquire.dev
    isetp.eq p0, v6, v62
    @p0 bra mine
    yield
    bra turn
mine:
    mov64 v16, s0
    mov v18, v61
    mov v19, 2
    call v15, workq_publish
    mov64 v4, s8
    add v6, v62, 1
    fence.release.dev
    stg.b32 v6, [v4]
    exit

# One thread puts a block of the CPU's making into a queue. Parameters: 0 queue, 8 words of the block behind its header (addresses),
# 16 how many, 20 words that the entry says too many, 24 where the result goes (address), and 16 bytes behind it the block's address.
.kernel poster
.param 32
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    mov64 v16, s0
    mov v18, 2
    mov v19, 0
    call v15, workq_reserve
    mov64 v2, s6
    stg.b32 v17, [v2]
    isetp.ne p0, v17, 0
    @p0 exit
    mov v60, v16
    mov64 v16, s0
    mov v18, v60
    call v15, workq_block
    mov64 v2, s6
    stg.b64 v16, [v2+16]
    mov64 v2, s2
    mov v4, s4
post_word:
    isetp.eq p0, v4, 0
    @p0 bra post_filled
    ldg.b32 v5, [v2]
    stg.b32 v5, [v16+16]
    add64 v2, v2, 4
    add64 v16, v16, 4
    sub v4, v4, 1
    bra post_word
post_filled:
    mov64 v16, s0
    mov v18, v60
    mov v19, s4
    add v19, v19, s5
    add v19, v19, 4
    call v15, workq_point
    mov64 v16, s0
    mov v18, v60
    mov v19, 2
    call v15, workq_publish
    exit

# One thread says what it was launched with, and what it reads there (C7). Parameters: 0 queue, 8 where it goes (addresses): 0 the
# first parameter, 8 soft GP_PUT, 12 shadow GP_PUT, 16 entries, 20 period.
.kernel told
.param 16
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    mov64 v2, s2
    mov64 v16, s0
    stg.b64 v16, [v2]
    ldg.b32 v4, [v16+64]
    stg.b32 v4, [v2+8]
    ldg.b32 v4, [v16+128]
    stg.b32 v4, [v2+12]
    ldg.b32 v4, [v16+4]
    stg.b32 v4, [v2+16]
    ldg.b32 v4, [v16+8]
    stg.b32 v4, [v2+20]
    exit

# SPDX-License-Identifier: MIT
#
# Makes work for a work queue (ppu/workq.h) by threads (C3 to C5): what a kernel that creates work is assembled
# together with, and copy.s.
#
# Convention: called with `call v15, NAME`; arguments and results from v16 on; v16 to v53 and p4 to p7 are lost. Any lanes may
# call together; each reserves entries of its own. v16:v17 is always the address of the queue.
#
# Whoever has reserved entries fills and publishes them; the queue stands still until then.
#
# Lines that begin with #@ are for tests: marks at which a thread is held, so that others go on between two of its steps.

# workq_reserve: takes entries, in the order in which the work will run.
#   v18      how many: the work's, and one for the acquire behind it
#   v19      1: the task may wait (B7), so wait for entries when there are too few; 0: after 64 yields, do not
#   v16 out  counter of the first
#   v17 out  0; 1: too few are free, and none becomes free before the caller has ended or has waited; 2: so many never are
workq_reserve:
    ldg.b32 v24, [v16+ppu_workq_head.entries] # entries
    ldg.b32 v25, [v16+ppu_workq_head.period] # period
    mov v27, 64                 # yields left
    sub v26, v24, 2
    isetp.gtu p4, v18, v26
    isetp.eq p5, v18, 0
    por p4, p4, p5
    @p4 bra workq_reserve_never
    add64 v40, v16, ppu_workq_head.soft_put
workq_reserve_try:
    ldg.b32 v28, [v16+ppu_workq_head.soft_put] # soft_put, and only then shadow_put: else what is free may seem more than it is
    fence.acquire.dev
    ldg.b32 v29, [v16+ppu_workq_head.shadow_put]
    fence.acquire.dev           # the entries were given back before it was published
    sub v30, v29, v28
    isetp.lt p4, v30, 0
    @p4 add v30, v30, v25
    isetp.ltu p4, v30, v18
    @p4 bra workq_reserve_full
    add v31, v28, v18
    isetp.geu p5, v31, v25
    @p5 sub v31, v31, v25
    mov v36, v28
    mov v37, v31
    atomg.cas.acq_rel.dev v38, [v40], v36
    isetp.eq p5, v38, v28
    @p5 bra workq_reserve_done
    yield
    bra workq_reserve_try
workq_reserve_done:
#@  mark 0x1011                 # reserved, not filled
    mov v16, v28
    mov v17, 0
    ret v15
workq_reserve_full:
    ldg.b32 v32, [v16+ppu_workq_head.stall] # AT_X and ENDED free nothing
    isetp.eq p4, v32, PPU_WORKQ_AT_X
    isetp.eq p5, v32, PPU_WORKQ_ENDED
    por p4, p4, p5
    @p4 bra workq_reserve_none
    isetp.eq p4, v27, 0
    @p4 bra workq_reserve_wait
    sub v27, v27, 1
    yield
    bra workq_reserve_try
workq_reserve_wait:
    isetp.eq p4, v19, 0
    @p4 bra workq_reserve_none
    rdsr v32, %nest.lo
    rdsr v33, %nest.hi
    ldg.b32 v34, [v32+ppu_nest_task.group.refused] # refused, of the own group
    mov v36, 1
    add64 v38, v32, ppu_nest_task.group.work
    atomg.add.acq_rel.dev _, [v38], v36
    ldg.b64 v38, [v32+ppu_nest_task.groups_va]
    or v36, v38, v39
    isetp.ne p4, v36, 0         # this CTA has a group of its own: it says what it waits for
    rdsr v36, %place
    shl v36, v36, ppu_cta_group.shift
    mov v37, 0
    add64 v38, v38, v36
    add64 v38, v38, ppu_cta_group.work
    mov v36, PPU_CTA_WORK_ENTRIES
    @p4 atomg.or.acq_rel.dev _, [v38], v36
    ldg.b32 v35, [v16+ppu_workq_head.channel]
    shl v36, v29, 10
    or v35, v35, v36
    mov v36, 0
    tstart v36, v35             # wakes us when shadow_put is another than this
    cwait
    mov v27, 64
    ldg.b32 v36, [v32+ppu_nest_task.group.refused]
    isetp.ne p4, v36, v34       # in vain: one last look
    @p4 mov v19, 0
    @p4 mov v27, 0
    bra workq_reserve_try
workq_reserve_none:
    mov v17, 1
    ret v15
workq_reserve_never:
    mov v17, 2
    ret v15

# workq_block: the command block of an entry, block_bytes long, which is the caller's while the entry is.
#   v18          counter of the entry
#   v16:v17 out  address
workq_block:
    mov v19, v18
    call v43, workq_entry
    mov64 v16, v34
    ret v15

# workq_point: points an entry at its own block, which is filled in but for its header.
#   v18  counter of the entry
#   v19  words of the block, header included
workq_point:
    mov v27, v19
    mov v19, v18
    call v43, workq_entry
    call v43, workq_set
    ret v15

# workq_publish: the reserved entries but the last are in place: adds the last and lets the firmware go on to them.
#   v18  counter of the first
#   v19  how many were reserved
workq_publish:
    ldg.b32 v25, [v16+ppu_workq_head.period]
    add v19, v19, v18
    sub v19, v19, 1             # counter of the last
    isetp.geu p4, v19, v25
    @p4 sub v19, v19, v25
    call v43, workq_entry
    mov v27, ppu_block_header.size # nothing but the acquire
    call v53, workq_seal
    ret v15

# Of this file, called with v43: v19 counter of an entry; out v28:v29 its number in the ring, v34:v35 its block, v40:v41 its semaphore.
workq_entry:
    ldg.b32 v24, [v16+ppu_workq_head.entries] # entries
    ldg.b32 v26, [v16+ppu_workq_head.block_bytes]
    ldg.b64 v30, [v16+ppu_workq_head.sem_at] # sem_at, block_at
    remu v28, v19, v24          # the period is a multiple of the entry count
    mov v29, 0
    mulwu v34, v28, v26
    mov v32, v31
    mov v33, 0
    add64 v34, v34, v32
    add64 v34, v34, v16
    mov v31, 0
    shl64 v40, v28, 4
    add64 v40, v40, v30
    add64 v40, v40, v16
    ret v43

# Of this file, called with v43: v28:v29, v34:v35 an entry and its block of v27 words: the block's header, and the entry points at it.
workq_set:
    mov v36, ppu_block_header.word
    mov v37, v27
    mov64 v38, 0
    stg.b128 v36, [v34]
    ldg.b32 v30, [v16+ppu_workq_head.ring_at]
    mov v31, 0
    shl64 v36, v28, 3
    add64 v36, v36, v30
    add64 v36, v36, v16
    mov v38, v34
    shl v39, v27, 16
    or v39, v39, v35            # address and length
    stg.b64 v38, [v36]
    ret v43

# Of this file, called with v53: v19, v28:v29, v34:v35, v40:v41 the last reserved entry, v27 bytes of its block are filled in, header
# included; v18 counter of the first. Adds the acquire of its semaphore, and lets the firmware go on to all of them.
workq_seal:
    mov v32, v27
    mov v33, 0
    add64 v32, v32, v34
    mov v36, method.SEM_ACQUIRE
    mov v37, v40
    mov v38, v41
    mov v39, 1
    stg.b128 v36, [v32]
    mov v36, 0
    stg.b32 v36, [v32+workq_acquire.compare]
    shr v27, v27, 2
    add v27, v27, workq_acquire.words
    call v43, workq_set
    ldg.b32 v25, [v16+ppu_workq_head.period]
    add v19, v18, v25           # the entry before the first
    sub v19, v19, 1
    call v43, workq_entry
    mov v36, 1
#@  mark 0x1012                 # in place, not released
    fence.release.dev
    semrel [v40], v36
    ret v53

# workq_end: ends the round (C5); for exactly one thread of it, when all others have reserved what they will.
#   v18      the round: the queue's `round` as the thread found it
#   v19      1: the task may wait
#   v16 out  0; 1: no entry is free, nothing has happened; 3: somebody else has ended it
workq_end:
    mov64 v22, v16
    mov v20, v18
    mov v21, v15
    mov v18, 1
    call v15, workq_reserve
    mov v18, v16
    mov v36, v17
    mov64 v16, v22
    mov v15, v21
    isetp.ne p4, v36, 0
    @p4 bra workq_end_none
    mov v19, v18
    call v43, workq_entry
    mov v27, ppu_block_header.size
    add64 v38, v16, ppu_workq_head.round
    mov v36, v20
    add v37, v20, 1
    atomg.cas.acq_rel.dev v21, [v38], v36
    isetp.ne p6, v21, v20       # not ours to end: the entry holds nothing but its acquire
    @p6 bra workq_end_seal
    mov v27, workq_end.size
    mov v36, method.WAIT_IDLE
    stg.b32 v36, [v34+workq_end.wait_idle]
    add64 v22, v16, ppu_workq_head.y
    mov v36, method.SEM_RELEASE
    stg.b32 v36, [v34+workq_end.release.method]
    stg.b32 v22, [v34+workq_end.release.va_lo]
    stg.b32 v23, [v34+workq_end.release.va_hi]
    stg.b32 v20, [v34+workq_end.release.value]
    mov v36, 0
    stg.b32 v36, [v34+workq_end.release.flags]
    add64 v22, v16, ppu_workq_head.x # of the next round
    mov v36, method.SEM_ACQUIRE
    stg.b32 v36, [v34+workq_end.acquire.method]
    stg.b32 v22, [v34+workq_end.acquire.va_lo]
    stg.b32 v23, [v34+workq_end.acquire.va_hi]
    stg.b32 v37, [v34+workq_end.acquire.value]
    mov v36, 0
    stg.b32 v36, [v34+workq_end.acquire.compare]
workq_end_seal:
    call v53, workq_seal
    mov v16, 0
    @p6 mov v16, 3
    ret v15
workq_end_none:
    mov v16, 1
    ret v15

# workq_launch: one launch as one piece of work: block, task descriptor and parameters lie in the entry's block.
#   v18      stream: 0 to 31 of the channel's address space, or -1 for none
#   v19      1: the task may wait
#   v20:v21  address of a struct ppu_tmd; param_va and param_bytes are filled in
#   v22:v23  address of the parameters, 16-byte aligned
#   v24      their bytes, a multiple of 16, at most block_bytes - 256
#   v16 out  as workq_reserve's v17
workq_launch:
    mov64 v44, v16
    mov64 v46, v20
    mov64 v48, v22
    mov v23, v15
    mov v50, v24
    mov v51, v18
    mov v18, 2
    call v15, workq_reserve
    mov v52, v16
    isetp.ne p4, v17, 0
    @p4 bra workq_launch_none
    mov64 v16, v44
    mov v18, v52
    call v15, workq_block
    add64 v28, v16, workq_launch.tmd
    add64 v30, v16, workq_launch.param
    mov v36, method.LAUNCH
    mov v37, v28
    mov v38, v29
    mov v39, v51
    stg.b128 v36, [v16+workq_launch.launch]
    mov64 v16, v46
    mov64 v20, v48
    mov v22, v50
    call v42, copy_task
    mov64 v16, v44
    mov v18, v52
    mov v19, workq_launch.words
    call v15, workq_point
    mov v18, v52
    mov v19, 2
    call v15, workq_publish
    mov v16, 0
    mov v15, v23
    ret v15
workq_launch_none:
    mov v16, v17
    mov v15, v23
    ret v15

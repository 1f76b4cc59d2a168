# SPDX-License-Identifier: MIT
# Runs queue tasks. An entry's data is a value and a count of hops: the CTA that takes it counts seen[value], and
# appends it once more with one hop less, until none is left. A task in an entry is started. parameters of taker and
# saver: 0 queue, 8 counters (taken, tasks started, entries of nothing, failed calls), 16 seen (addresses), 24 scratch:
# 16 bytes for each entry in flight, by position modulo 4,096; 32 turns of a loop that takes time
.kernel taker
.param 40
    bra take

# The same, started with places to be saved in.
.kernel saver
.param 40
.launch
.save
take:
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    ldp.b32 s8, [32]
    mov v0, 0
    pbrk spent
spend:
    isetp.geu p0, v0, s8
    @p0 brk spent
    add v0, v0, 1
    bra spend
spent:
    rdsr v0, %tid.x
    rdsr v1, %qpos
    rdsr v2, %cta.x
    isetp.ne p0, v1, v2
    @p0 trap 1
    isetp.ne p0, v0, 0
    @p0 exit
    mov64 v16, s0
    call v15, taskq_entry
    mov v0, v16
    mov64 v2, v18
    mov v4, 0
    mov v5, 1
    isetp.eq p0, v0, 1
    @p0 bra data
    isetp.eq p0, v0, 2
    @p0 bra task
    mov v4, 8
    atomg.add _, [s2+v4], v5
    mov64 v16, s0
    call v15, taskq_free
    exit
task:
    mov64 v16, s0
    call v15, taskq_start
    isetp.ne p0, v16, 0
    mov v4, 4
    @p0 mov v4, 12
    atomg.add _, [s2+v4], v5
    mov64 v16, s0
    call v15, taskq_free
    exit
data:
    ldg.b64 v6, [v2]            # value, hops
    atomg.add _, [s2+v4], v5
    shl v8, v6, 2
    atomg.add _, [s4+v8], v5
    mov64 v16, s0
    call v15, taskq_free
    isetp.eq p0, v7, 0
    @p0 exit
    sub v7, v7, 1
    rdsr v8, %qpos
    and v8, v8, 4095
    shl v8, v8, 4
    mov v9, 0
    add64 v8, v8, s6
    stg.b64 v6, [v8]
full:
    mov64 v16, s0
    mov64 v20, v8
    mov v22, 16
    call v15, taskq_push
    isetp.eq p0, v16, 0
    @p0 exit
    yield
    isetp.eq p0, v16, 4         # PPU_DEVLIB_TASKQ_FULL
    @p0 bra full
    mov v4, 12
    atomg.add _, [s2+v4], v5
    exit

# Every thread appends `each` values, with no hops: its own number times `each`, and on. The last to end closes the queue.
# parameters: 0 queue, 8 counters (threads that have ended, calls that found the queue full, failed calls), 16 scratch: 16 bytes a thread,
# 24 each, 28 threads of the grid, 32 1: close
.kernel feeder
.param 40
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b32 s6, [24]
    ldp.b32 s7, [28]
    ldp.b32 s8, [32]
    rdsr v0, %tid.x
    rdsr v1, %cta.x
    rdsr v2, %ntid.x
    mad v0, v1, v2, v0          # own number
    shl v2, v0, 4
    mov v3, 0
    add64 v2, v2, s4            # own scratch
    mul v4, v0, s6              # value
    mov v5, 0                   # hops
    mov v6, 0                   # appended so far
    mov v7, 1
    pbrk fed
feed:
    isetp.geu p0, v6, s6
    @p0 brk fed
    stg.b64 v4, [v2]
    mov64 v16, s0
    mov64 v20, v2
    mov v22, 16
    call v15, taskq_push
    isetp.eq p1, v16, 0
    @p1 add v4, v4, 1
    @p1 add v6, v6, 1
    isetp.eq p2, v16, 4         # PPU_DEVLIB_TASKQ_FULL
    mov v8, 4
    @p2 atomg.add _, [s2+v8], v7
    por p1, p1, p2
    mov v8, 8
    @!p1 atomg.add _, [s2+v8], v7
    @!p1 brk fed
    yield
    bra feed
fed:
    mov v8, 0
    atomg.add v9, [s2+v8], v7
    add v9, v9, 1
    isetp.ne p0, v9, s7
    @p0 exit
    isetp.eq p0, s8, 0
    @p0 exit
    mov64 v16, s0
    call v15, taskq_close
    exit

# Every thread appends a task to a queue; the last closes it.
# parameters: 0 queue, 8 TMD of the task, 16 its parameters (16 bytes), 24 counters (tasks appended, failed calls, last error)
.kernel tasker
.param 32
.launch
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    mov64 v16, s2
    mov64 v18, s0
    mov64 v20, s4
    mov v22, 16
    call v15, taskq_launch
    isetp.eq p0, v16, 0
    mov v0, 0
    @!p0 mov v0, 4
    mov v1, 1
    atomg.add _, [s6+v0], v1
    bar 0
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    call v15, nest_error
    mov v0, 8
    stg.b32 v16, [s6+v0]
    mov64 v16, s0
    call v15, taskq_close
    exit

# Adds one to the word at the address in its parameters.
# parameters: 0 word
.kernel leaf
.param 16
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    mov v0, 0
    mov v1, 1
    atomg.add _, [s0+v0], v1
    exit

# SPDX-License-Identifier: MIT
#
# Feeds a queue by threads, and takes from it by CTAs (ppu/taskq.h). Assembled together with nest.s, whose convention
# it has, and copy.s.

# taskq_push: appends data (A12).
#   v16:v17  address of the queue
#   v20:v21  address of the data, 4-byte aligned
#   v22      their bytes, a multiple of 16, at most what an entry has room for
#   v16 out  status
taskq_push:
    mov64 v24, v16
    ldg.b32 v30, [v24+ppu_taskq_head.entry_bytes]
    sub v30, v30, ppu_taskq_entry.size
    and v31, v22, 15
    isetp.gtu p4, v22, v30
    isetp.ne p5, v31, 0
    por p4, p4, p5
    mov v23, PPU_DEVLIB_TOO_LONG
    @p4 bra nest_failed
    call v43, taskq_ticket
    isetp.ne p4, v23, 0
    @p4 bra nest_failed
    mov v36, PPU_TASKQ_DATA
    mov v37, 0
    stg.b64 v36, [v28+ppu_taskq_entry.kind]
    add64 v30, v28, ppu_taskq_entry.size
    call v42, copy_bytes
    call v43, taskq_publish
    mov v16, 0
    ret v15

# taskq_launch: appends a task (A12); the CTA that takes it starts it as a child of its own grid, in no stream. When there is no
# record, the entry that was taken for it is one of nothing.
#   v16:v17  address of a struct ppu_tmd, as for nest_launch
#   v18:v19  address of the queue
#   v20:v21, v22  parameters, as for nest_launch
#   v16 out  status
taskq_launch:
    mov64 v24, v18
    call v43, taskq_ticket
    isetp.ne p4, v23, 0
    @p4 bra nest_failed
    mov64 v44, v28              # entry
    mov v46, v34                # ticket
    call v43, nest_record
    mov64 v24, v18
    mov64 v28, v44
    mov v37, v34                # handle
    mov v34, v46
    isetp.ne p4, v23, 0
    mov v36, PPU_TASKQ_TASK
    @p4 mov v36, PPU_TASKQ_NOTHING
    stg.b64 v36, [v28+ppu_taskq_entry.kind]
    mov v46, v23
    call v43, taskq_publish
    mov v23, v46
    isetp.ne p4, v23, 0
    @p4 bra nest_failed
    mov v16, 0
    ret v15

# taskq_close: no entry can be appended any more.
#   v16:v17  address of the queue
taskq_close:
    mov64 v24, v16
    add64 v40, v24, ppu_taskq_head.tail
    mov v36, PPU_TASKQ_CLOSED
    atomg.or.seq_cst.dev _, [v40], v36
    call v43, taskq_tell
    ret v15

# taskq_entry: the entry that this CTA is for. Any thread may ask, until the entry is freed.
#   v16:v17  address of the queue
#   v16 out  enum ppu_taskq_kind;  v18:v19 out  address of the data
taskq_entry:
    mov64 v24, v16
    rdsr v34, %qpos
    call v43, taskq_cell
    ldg.b32 v16, [v28+ppu_taskq_entry.kind]
    add64 v18, v28, ppu_taskq_entry.size
    ret v15

# taskq_start: starts the task in this CTA's entry as a child of its grid. One thread of the CTA, before the entry is freed.
#   v16:v17  address of the queue
#   v16 out  status
taskq_start:
    mov64 v24, v16
    rdsr v34, %qpos
    call v43, taskq_cell
    ldg.b64 v34, [v28+ppu_taskq_entry.kind] # kind, handle
    mov v23, PPU_DEVLIB_NOT_A_TASK
    isetp.ne p4, v34, PPU_TASKQ_TASK
    @p4 bra nest_failed
    rdsr v24, %nest.lo
    rdsr v25, %nest.hi
    or v26, v24, v25
    mov v23, PPU_DEVLIB_NO_NEST
    isetp.eq p4, v26, 0
    @p4 bra nest_failed
    ldg.b64 v26, [v24+ppu_nest_task.nest_va] # the nest
    ldg.b32 v28, [v26+ppu_nest.depth]
    rdsr v29, %depth
    mov v23, PPU_DEVLIB_TOO_DEEP
    isetp.geu p4, v29, v28
    @p4 bra nest_failed
    mov v34, v35
    call v42, nest_address
    mov v36, v34                # status: task, next_stream, group, stream
    mov v37, 0
    rdsr v38, %task
    mov v39, PPU_STREAM_NONE
    stg.b128 v36, [v28]
    call v42, nest_count
    mov v31, 0
    tstart v34, v31
    mov v16, 0
    ret v15

# taskq_free: gives the cell of this CTA's entry to producers. One thread of the CTA, when all have read.
#   v16:v17  address of the queue
taskq_free:
    mov64 v24, v16
    rdsr v34, %qpos
    call v43, taskq_cell
    ldg.b32 v30, [v24+ppu_taskq_head.entries]
    add v34, v34, v30
    and v34, v34, PPU_TASKQ_TICKET_MASK
    fence.release.dev
    stg.b32 v34, [v28]
    ret v15

# ---- of this file; called with v43 ----

# v24:v25 queue, v34 number of an entry; out v28:v29 its cell.
taskq_cell:
    ldg.b64 v30, [v24+ppu_taskq_head.entries] # entries, bytes of one
    sub v32, v30, 1
    and v32, v34, v32
    mulwu v28, v32, v31
    add64 v28, v28, v24
    add64 v28, v28, ppu_taskq_head.size
    ret v43

# v24:v25 queue; out v23 status, v34 ticket, v28:v29 cell of the entry, which is ours to fill.
taskq_ticket:
    add64 v40, v24, ppu_taskq_head.tail
    ldg.b64 v30, [v24+ppu_taskq_head.entries] # entries, bytes of one
    sub v32, v30, 1
    mov v23, 0
    pbrk taskq_ticket_end
taskq_ticket_again:
    ldg.b32 v36, [v40]
    fence.acquire.dev
    and v33, v36, PPU_TASKQ_CLOSED
    isetp.ne p4, v33, 0
    @p4 mov v23, PPU_DEVLIB_CLOSED
    @p4 brk taskq_ticket_end
    shr v34, v36, 1
    and v33, v34, v32
    mulwu v28, v33, v31
    add64 v28, v28, v24
    add64 v28, v28, ppu_taskq_head.size
    ldg.b32 v33, [v28]
    fence.acquire.dev           # pairs with taskq_free
    isetp.eq p4, v33, v34
    ldg.b32 v39, [v40]
    isetp.eq p5, v39, v36       # nobody has taken the ticket meanwhile
    pand p6, p5, !p4
    @p6 mov v23, PPU_DEVLIB_TASKQ_FULL
    @p6 brk taskq_ticket_end
    add v37, v36, 2
    mov v38, -1
    pand p4, p4, p5
    @p4 atomg.cas.acq_rel.dev v38, [v40], v36
    isetp.eq p5, v38, v36
    pand p4, p4, p5
    @p4 brk taskq_ticket_end
    yield
    bra taskq_ticket_again
taskq_ticket_end:
    ret v43

# v24:v25 queue, v28:v29 cell, v34 ticket: the entry is there, and the task is told when it waits to be.
taskq_publish:
    add v33, v34, 1
    and v33, v33, PPU_TASKQ_TICKET_MASK
    fence.release.dev
    stg.b32 v33, [v28]
taskq_tell:
    fence.seq_cst.dev           # pairs with the firmware's between arming and looking
    add64 v40, v24, ppu_taskq_head.armed
    mov v36, 0
    atomg.xchg.seq_cst.dev v37, [v40], v36
    isetp.ne p4, v37, 0
    @p4 tstart v37, v37
    ret v43

# SPDX-License-Identifier: MIT
#
# Implements the threads' half of nested execution streams (ppu/nest.h): what a kernel that launches is assembled
# together with, and copy.s.
#
# Convention: called with `call v15, NAME`; arguments and results from v16 on; v16 to v46 and p4 to p7 are lost. Any lanes may
# call together; each launches its own task. What a function returns in v16 is an enum ppu_devlib_status (ppu/devlib.h); what is not 0 is
# also kept as the grid's last error. Waiting for children is the instruction cwait.
#
# Lines that begin with #@ are for tests: marks at which a launcher is held, so that others go on between two of its steps.

# nest_launch: launches a task (B4, B13). Nothing has happened when it fails.
#   v16:v17  address of a struct ppu_tmd, of which everything but the parameters is taken
#   v18      stream: 0 to 31, or -1 for none
#   v20:v21  address of the parameters, 4-byte aligned
#   v22      their bytes, a multiple of 16, at most 528
#   v16 out  status
nest_launch:
    call v43, nest_record
    isetp.ne p4, v23, 0
    @p4 bra nest_failed
    mov v36, v34                # status: task, next_stream, group, stream
    mov v37, 0
    rdsr v38, %task
    mov v39, v18
    stg.b128 v36, [v28]
#@  mark 0x1001                 # filled in, not counted
    call v42, nest_count
#@  mark 0x1002                 # counted, in no TMDQ
    isetp.eq p5, v18, PPU_STREAM_NONE
    shl v36, v18, 2
    mov v37, 0
    add64 v36, v36, v24
    add64 v36, v36, ppu_nest_task.group.last_task
    csenter
    mov v38, 0
    @!p5 atomg.xchg.acq_rel.dev v38, [v36], v34
#@  mark 0x1003                 # last of its TMDQ, not linked
    isetp.ne p6, v38, 0         # there is a former task
    sub v32, v38, v34           # its record: as far from ours as its index
    shl v32, v32, 12
    asr v32, v32, 2
    asr v33, v32, 31
    add64 v32, v32, v28
    add64 v32, v32, ppu_nest_task.status.next_stream
    mov v30, 0
    @p6 atomg.xchg.acq_rel.dev v30, [v32], v34
#@  mark 0x1004                 # linked, not asked for
    isetp.eq p7, v30, PPU_TASK_WAITING # it has completed, and left the start to us
    mov v31, 0
    @p7 mov v31, v38
    por p7, p7, !p6
    @p7 tstart v34, v31
    csleave
    mov v16, 0
    ret v15

# Status v23 is the call's result and the grid's last error, where the grid has a record. Of this file, asm/taskq.s and heap.s.
nest_failed:
    mov v16, v23
    rdsr v24, %nest.lo
    rdsr v25, %nest.hi
    or v26, v24, v25
    isetp.ne p4, v26, 0
    @p4 stg.b32 v23, [v24+ppu_nest_task.error]
    ret v15

# nest_error: the status of a call of a thread of this grid that failed, the latest; forgets it. v16 out: 0 when none has.
nest_error:
    rdsr v24, %nest.lo
    rdsr v25, %nest.hi
    or v26, v24, v25
    isetp.ne p4, v26, 0
    mov v16, 0
    mov v17, 0
    add64 v24, v24, ppu_nest_task.error
    @p4 atomg.xchg.relaxed.dev v16, [v24], v17
    ret v15

# nest_record (of this file and asm/taskq.s): takes a record of the nest and fills in TMD and parameters. Called with v43.
#   in       v16:v17, v20:v21, v22 as nest_launch
#   out      v23 status, v24:v25 own record, v26:v27 the nest, v28:v29 the record, v34 its handle; v18, v19 are kept
nest_record:
    rdsr v24, %nest.lo          # own record
    rdsr v25, %nest.hi
    or v26, v24, v25
    mov v23, PPU_DEVLIB_NO_NEST
    isetp.eq p4, v26, 0
    @p4 bra nest_record_end
    ldg.b64 v26, [v24+ppu_nest_task.nest_va] # the nest
    ldg.b32 v28, [v26+ppu_nest.depth]
    rdsr v29, %depth
    mov v23, PPU_DEVLIB_TOO_DEEP
    isetp.geu p4, v29, v28
    @p4 bra nest_record_end
    and v30, v22, 15
    isetp.ne p4, v30, 0
    isetp.gtu p5, v22, PPU_NEST_INLINE_PARAM
    por p4, p4, p5
    mov v23, PPU_DEVLIB_TOO_LONG
    @p4 bra nest_record_end
    ldg.b64 v30, [v16+ppu_tmd.addresses] # which parameters are addresses
    mov64 v32, v20
    mov v35, v22
    mov v23, 0
    pbrk nest_record_checked
nest_record_check:              # addresses of shared and local memory are the launcher's own (B14)
    or v36, v30, v31
    isetp.eq p4, v36, 0
    isetp.eq p5, v35, 0
    por p4, p4, p5
    @p4 brk nest_record_checked
    ldg.b32 v37, [v32+4]
    and v37, v37, -2
    isetp.eq p5, v37, PPU_SHARED_WINDOW.high # or PPU_LOCAL_WINDOW
    and v36, v30, 1
    isetp.ne p6, v36, 0
    pand p5, p5, p6
    @p5 mov v23, PPU_DEVLIB_PRIVATE
    shr64 v30, v30, 1
    add64 v32, v32, 8
    sub v35, v35, 8
    bra nest_record_check
nest_record_checked:
    isetp.ne p4, v23, 0
    @p4 bra nest_record_end
    ldg.b32 v31, [v26+ppu_nest.tasks]
    sub v31, v31, 1             # mask of the ring of free records
    mov v34, 0                  # handle taken
    add64 v40, v26, ppu_nest.free_head
    pbrk nest_record_taken
nest_record_take:
    ldg.b32 v33, [v26+ppu_nest.free_head]
    fence.acquire.dev
    ldg.b32 v32, [v26+ppu_nest.free_tail]
    fence.acquire.dev           # the handle was written before free_tail
    isetp.eq p4, v32, v33
    @p4 brk nest_record_taken
    and v36, v33, v31
    shl v36, v36, 2
    mov v37, 0
    add64 v36, v36, v26
    ldg.b32 v35, [v36+ppu_nest.size]
    mov v36, v33
    add v37, v33, 1
    atomg.cas.acq_rel.dev v38, [v40], v36
    isetp.eq p5, v38, v33
    @p5 mov v34, v35
    @p5 brk nest_record_taken
    yield
    bra nest_record_take
nest_record_taken:
    mov v23, PPU_DEVLIB_NO_RECORD
    isetp.eq p4, v34, 0
    @p4 bra nest_record_end
    call v42, nest_address
    mov64 v32, v28
    add64 v28, v28, ppu_nest_task.tmd
    add64 v30, v32, ppu_nest_task.param
    call v42, copy_task
    mov64 v28, v32
    mov v23, 0
nest_record_end:
    ret v43

# nest_count (of this file and asm/taskq.s): counts a child in the groups of its CTA and of its grid, and notes the former.
#   v24:v25  own record; v28:v29 the child's. Called with v42; v36 to v41 are lost.
nest_count:
    ldg.b64 v36, [v24+ppu_nest_task.groups_va]
    or v38, v36, v37
    isetp.ne p4, v38, 0         # CTAs of this grid have groups
    rdsr v38, %place
    shl v40, v38, ppu_cta_group.shift
    mov v41, 0
    add64 v40, v40, v36
    mov v39, 0
    @p4 ldg.b32 v39, [v40+ppu_cta_group.cta]
    stg.b64 v38, [v28+ppu_nest_task.place]
    mov v36, 1
    add64 v40, v40, ppu_cta_group.work
    @p4 atomg.add.acq_rel.dev _, [v40], v36
    add64 v40, v24, ppu_nest_task.group.work
    atomg.add.acq_rel.dev _, [v40], v36
    ret v42

# nest_address (of this file and asm/taskq.s): v26:v27 the nest, v34 handle of a record; v28:v29 out its address. Called with v42.
nest_address:
    ldg.b64 v32, [v26+ppu_nest.tasks] # tasks, first
    and v28, v34, ppu_task.index_mask
    sub v28, v28, v33           # number of the record
    shl v28, v28, ppu_nest_task.shift
    shl v32, v32, 2
    add v32, v32, ppu_nest.tasks_round # PPU_NEST_TASKS_AT
    and v32, v32, ppu_nest_task.mask
    add v28, v28, v32
    mov v29, 0
    add64 v28, v28, v26
    ret v42

# nest_stream: creates a stream (B3): v16 out is its number, for all threads of the grid; -1: this task cannot launch. With more
# than 32 streams some share a TMDQ.
nest_stream:
    rdsr v24, %nest.lo
    rdsr v25, %nest.hi
    or v26, v24, v25
    isetp.eq p4, v26, 0
    mov v16, -1
    mov v17, 1
    add64 v24, v24, ppu_nest_task.group.streams
    @!p4 atomg.add.relaxed.dev v16, [v24], v17
    @!p4 and v16, v16, ppu_group.stream_mask
    ret v15

# nest_stream_destroy: v16 is the number of a stream that is not needed any more; out: status. Returns at once: what was launched into
# it goes on, and its TMDQ is as good as any other's.
nest_stream_destroy:
    isetp.geu p4, v16, PPU_GROUP_TMDQS
    mov v23, PPU_DEVLIB_NO_STREAM
    @p4 bra nest_failed
    mov v16, 0
    ret v15

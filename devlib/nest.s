# SPDX-License-Identifier: MIT
#
# The threads' half of nested execution streams (ppu/nest.h): what a kernel that launches is assembled together with.
#
# Convention: called with `call v15, NAME`; arguments and results from v16 on; v16 to v41 and p4 to p7 are lost. Any lanes may
# call together; each launches its own task. Waiting for children is the instruction cwait.
#
# Lines that begin with #@ are for tests: marks at which a launcher is held, so that others go on between two of its steps.

# nest_launch: launches a task (B4, B13). Nothing has happened when it fails.
#   v16:v17  address of a struct ppu_tmd, of which everything but the parameters is taken
#   v18      stream: 0 to 31, or -1 for none
#   v20:v21  address of the parameters, 16-byte aligned
#   v22      their bytes, a multiple of 16, at most 560
#   v16 out  0; 1: no record is free; 2: the grid would be too deep; 3: this task cannot launch
nest_launch:
    rdsr v24, %nest.lo          # own record
    rdsr v25, %nest.hi
    or v26, v24, v25
    isetp.eq p4, v26, 0
    @p4 bra nest_launch_none
    ldg.b64 v26, [v24+16]       # the nest
    ldg.b32 v28, [v26+12]
    rdsr v29, %depth
    isetp.geu p4, v29, v28
    @p4 bra nest_launch_deep
    ldg.b32 v31, [v26+4]
    sub v31, v31, 1             # mask of the ring of free records
    mov v34, 0                  # handle taken
    add64 v40, v26, 64
    pbrk nest_launch_taken
nest_launch_take:
    ldg.b32 v33, [v26+64]
    fence.acquire.dev
    ldg.b32 v32, [v26+128]
    fence.acquire.dev           # the handle was written before free_tail
    isetp.eq p4, v32, v33
    @p4 brk nest_launch_taken
    and v36, v33, v31
    shl v36, v36, 2
    mov v37, 0
    add64 v36, v36, v26
    ldg.b32 v35, [v36+256]
    mov v36, v33
    add v37, v33, 1
    atomg.cas.acq_rel.dev v38, [v40], v36
    isetp.eq p5, v38, v33
    @p5 mov v34, v35
    @p5 brk nest_launch_taken
    yield
    bra nest_launch_take
nest_launch_taken:
    isetp.eq p4, v34, 0
    ssy nest_launch_done
    @p4 bra nest_launch_empty
    ldg.b32 v32, [v26+8]
    and v35, v34, 0xfffff
    sub v35, v35, v32           # number of the record
    add v33, v31, 1
    shl v33, v33, 2
    add v33, v33, 1279          # PPU_NEST_TASKS_AT
    and v33, v33, -1024
    shl v35, v35, 10
    add v28, v33, v35
    mov v29, 0
    add64 v28, v28, v26         # the record
    ldg.b128 v36, [v16]
    stg.b128 v36, [v28+256]
    ldg.b128 v36, [v16+16]
    stg.b128 v36, [v28+272]
    ldg.b128 v36, [v16+32]
    stg.b128 v36, [v28+288]
    ldg.b128 v36, [v16+48]
    stg.b128 v36, [v28+304]
    ldg.b128 v36, [v16+64]
    stg.b128 v36, [v28+320]
    ldg.b128 v36, [v16+80]
    stg.b128 v36, [v28+336]
    ldg.b128 v36, [v16+96]
    stg.b128 v36, [v28+352]
    ldg.b128 v36, [v16+112]
    stg.b128 v36, [v28+368]
    mov64 v36, 0                # what only the firmware may say
    mov64 v38, 0
    stg.b128 v36, [v28+384]
    stg.b128 v36, [v28+400]
    stg.b128 v36, [v28+416]
    stg.b128 v36, [v28+432]
    add64 v36, v28, 448
    stg.b64 v36, [v28+320]
    stg.b32 v22, [v28+328]
    mov v30, v22
    mov64 v32, v28
    pbrk nest_launch_filled
nest_launch_fill:
    isetp.eq p4, v30, 0
    @p4 brk nest_launch_filled
    ldg.b128 v36, [v20]
    stg.b128 v36, [v32+448]
    add64 v20, v20, 16
    add64 v32, v32, 16
    sub v30, v30, 16
    bra nest_launch_fill
nest_launch_filled:
    mov v36, v34                # status: task, next_stream, group, stream
    mov v37, 0
    rdsr v38, %task
    mov v39, v18
    stg.b128 v36, [v28]
#@  mark 0x1001                 # filled in, not counted
    mov v36, 1
    add64 v40, v24, 64
    atomg.add.acq_rel.dev _, [v40], v36
#@  mark 0x1002                 # counted, in no TMDQ
    isetp.eq p5, v18, -1
    shl v36, v18, 2
    mov v37, 0
    add64 v36, v36, v24
    add64 v36, v36, 128         # the TMDQ's last_task
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
    add64 v32, v32, 4
    mov v30, 0
    @p6 atomg.xchg.acq_rel.dev v30, [v32], v34
#@  mark 0x1004                 # linked, not asked for
    isetp.eq p7, v30, -1        # WAITING: it has completed, and left the start to us
    mov v31, 0
    @p7 mov v31, v38
    por p7, p7, !p6
    @p7 tstart v34, v31
    csleave
    mov v16, 0
    sync nest_launch_done
nest_launch_empty:
    mov v16, 1
    sync nest_launch_done
nest_launch_done:
    ret v15
nest_launch_deep:
    mov v16, 2
    ret v15
nest_launch_none:
    mov v16, 3
    ret v15

# nest_stream: creates a stream (B3): v16 out is its number, for all threads of the grid; -1: this task cannot launch. With more
# than 32 streams some share a TMDQ. Destroying one takes nothing.
nest_stream:
    rdsr v24, %nest.lo
    rdsr v25, %nest.hi
    or v26, v24, v25
    isetp.eq p4, v26, 0
    mov v16, -1
    mov v17, 1
    add64 v24, v24, 68
    @!p4 atomg.add.relaxed.dev v16, [v24], v17
    @!p4 and v16, v16, 31
    ret v15

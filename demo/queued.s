# SPDX-License-Identifier: MIT
# Work that threads put into a work queue (C3). Assembled together with device-lib/asm/workq.s.

# Each thread puts one launch of `note` into the queue, with its own number.
# parameters: 0 queue, 8 task descriptor of `note`, 16 list, 24 16 bytes a thread (addresses)
# list: words: 0 launches that ran, 4 threads that were refused; from 16 on, of each number how often it ran
.kernel queued
.param 32
.wait
.launch
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    rdsr v0, %tid.x
    rdsr v1, %ntid.x
    rdsr v2, %cta.x
    mad v0, v2, v1, v0
    mulwu v4, v0, 16
    add64 v4, v4, s6            # the parameters of the launch
    mov v8, v0
    mov v9, 0
    mov64 v10, s4
    stg.b128 v8, [v4]
    mov64 v16, s0
    mov v18, -1                 # in no stream
    mov v19, 0
    mov64 v20, s2
    mov64 v22, v4
    mov v24, 16
    call v15, workq_launch
    isetp.eq p0, v16, 0
    @p0 exit
    mov64 v10, s4
    add64 v10, v10, 4
    mov v8, 1
    atomg.add _, [v10], v8
    exit

# One thread notes that the launch of its number has run.
# parameters: 0 number, 8 list (address)
.kernel note
.param 16
    ldp.b32 s0, [0]
    ldp.b64 s2, [8]
    mov64 v2, s2
    mov v4, 1
    atomg.add _, [v2], v4
    mov v5, s0
    mulwu v6, v5, 4
    add64 v6, v6, v2
    add64 v6, v6, 16
    atomg.add _, [v6], v4
    exit

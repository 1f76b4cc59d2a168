# SPDX-License-Identifier: MIT
# Copies words that may lie in system memory, adding 1 to each.

# out[i] = in[i] + 1; either may lie in system memory.
# Parameters: 0 in, 8 out (addresses), 16 n
.kernel copy_plus
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0
    isetp.geu p0, v0, s4
    @p0 exit
    shl v0, v0, 2
    ldg.b32 v1, [s0+v0]
    add v1, v1, 1
    stg.b32 v1, [s2+v0]
    exit

# out[i] = tid read back from local memory through a unified address, plus the same from shared memory.
# parameters: 0 out (address)
.kernel unified
.param 8
.shared 1024
.local 32
    ldp.b64 s0, [0]
    rdsr v0, %tid.x
    stl.b32 v0, [8]
    shl v1, v0, 2
    sts.b32 v0, [v1]
    bar 0
    mov v2, 8                   # local window
    mov v3, 0xffff
    ldu.b32 v4, [v2]
    mov v2, v1                  # shared window
    mov v3, 0xfffe
    ldu.b32 v5, [v2]
    add v4, v4, v5
    mulwu v6, v0, 4
    add64 v6, v6, s0
    stu.b32 v4, [v6]
    exit

# Release of the semaphore at parameter 0 with the payload of parameter 8, by one thread.
.kernel release
.param 16
    ldp.b64 s0, [0]
    ldp.b32 s2, [8]
    semrelt.s [s0], s2
    exit

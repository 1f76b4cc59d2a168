# SPDX-License-Identifier: MIT
# Defines kernels that do one wrong thing. Parameter 0: an address.

# Reads the word at the address: unmapped memory.
.kernel fault_load
.param 8
    ldp.b64 s0, [0]
    ldg.b32 v0, [s0]
    exit

# Writes to it: read-only or protected memory.
.kernel fault_store
.param 8
    ldp.b64 s0, [0]
    mov v0, 1
    stg.b32 v0, [s0]
    exit

# Only lane 5 of warp 1 reads from the address; all others from nowhere.
.kernel fault_lane
.param 8
    ldp.b64 s0, [0]
    rdsr v1, %tid.x
    isetp.eq p0, v1, 37
    @p0 ldg.b32 v0, [s0]
    exit

# Atomic on the address: memory mapped without atomics.
.kernel fault_atomic
.param 8
    ldp.b64 s0, [0]
    mov v0, 1
    atomg.add v1, [s0], v0
    exit

.kernel fault_misaligned
.param 8
    ldp.b64 s0, [0]
    ldg.b32 v0, [s0+2]
    exit

.kernel fault_trap
    trap 0x1234

.kernel fault_illegal
    .word 0

.kernel fault_not_built
    bpt

.kernel fault_register
.vregs 4
    mov v100, 1
    exit

.kernel fault_jump
    jmp 0x100000

.kernel fault_shared
.shared 64
    mov v0, 64
    lds.b32 v1, [v0]
    exit

.kernel fault_local
.local 16
    mov v0, 16
    ldl.b32 v1, [v0]
    exit

.kernel fault_param
.param 8
    ldp.b32 s0, [4096]
    exit

# Threads below 32 wait at barrier 0, the others at barrier 1.
.kernel fault_barrier
    rdsr v0, %tid.x
    isetp.ltu p0, v0, 32
    @p0 bra low
    bar 1
    exit
low:
    bar 0
    exit

# Pushes tokens for ever.
.kernel fault_tokens
more:
    ssy more
    bra more

# Start request for the task handle in parameter 0.
.kernel start_request
.param 8
    ldp.b32 s0, [0]
    tstart.s s0, 0
    exit

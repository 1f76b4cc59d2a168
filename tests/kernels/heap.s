# SPDX-License-Identifier: MIT
# Takes by every thread `each` pieces of the heap, of sizes that follow from its number. The thread writes its mark over
# each piece, keeps one and gives the other back in turn, and looks that its marks are there still.
# Parameters: 0 counters (pieces taken, refused, marks that were written over, last error), 8 each, 12 least bytes, 16 mask of the bytes added
.kernel heap
.param 24
.launch
    ldp.b64 s0, [0]
    ldp.b32 s2, [8]
    ldp.b32 s3, [12]
    ldp.b32 s4, [16]
    rdsr v0, %tid.x
    rdsr v1, %cta.x
    rdsr v2, %ntid.x
    mad v0, v1, v2, v0          # own number, and mark
    mov v1, 0                   # turn
    mov64 v2, 0                 # piece kept from the turn before
    mov v4, 0                   # its words
    mov v5, 1
    pbrk taken
again:
    isetp.geu p0, v1, s2
    @p0 brk taken
    mul v6, v1, 0x9e3779b1
    mul v7, v0, 0x85ebca6b
    add v6, v6, v7
    shr v6, v6, 9
    and v6, v6, s4
    add v6, v6, s3
    and v6, v6, -4
    mov v16, v6
    call v15, heap_take
    or v7, v16, v17
    isetp.eq p0, v7, 0
    mov v8, 0
    @p0 mov v8, 4
    atomg.add _, [s0+v8], v5
    mov64 v10, v16
    @p0 mov v6, 0
    mov64 v12, v10
    mov v7, v6
    pbrk marked
mark:
    isetp.eq p1, v7, 0
    @p1 brk marked
    stg.b32 v0, [v12]
    add64 v12, v12, 4
    sub v7, v7, 4
    bra mark
marked:
    mov64 v12, v2
    mov v7, v4
    pbrk looked
look:
    isetp.eq p1, v7, 0
    @p1 brk looked
    ldg.b32 v8, [v12]
    isetp.ne p2, v8, v0
    mov v9, 8
    @p2 atomg.add _, [s0+v9], v5
    add64 v12, v12, 4
    sub v7, v7, 4
    bra look
looked:
    mov64 v16, v2
    mov64 v2, v10
    mov v4, v6
    call v15, heap_give
    add v1, v1, 1
    bra again
taken:
    mov64 v16, v2
    call v15, heap_give
    call v15, nest_error
    isetp.ne p0, v16, 0
    mov v8, 12
    @p0 stg.b32 v16, [s0+v8]
    exit

# Launches a leaf whose parameter is the address of a word of shared memory, of local memory, and of global memory.
# parameters: 0 TMD of the leaf, 8 scratch (16 bytes), 16 word, 24 results (status of each launch, last error after the second, after the third)
.kernel private
.param 32
.launch
.shared 64
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    ldp.b64 s6, [24]
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    mov64 v2, s2
    mov64 v4, s6
    mov64 v6, 0
    stg.b64 v6, [v2+8]
    mov v6, 16
    mov v7, 0xfffe              # PPU_SHARED_WINDOW
    stg.b64 v6, [v2]
    call v8, try
    stg.b32 v16, [v4]
    mov v7, 0xffff              # PPU_LOCAL_WINDOW
    stg.b64 v6, [v2]
    call v8, try
    stg.b32 v16, [v4+4]
    call v15, nest_error
    stg.b32 v16, [v4+12]
    mov64 v6, s4
    stg.b64 v6, [v2]
    call v8, try
    stg.b32 v16, [v4+8]
    call v15, nest_error
    stg.b32 v16, [v4+16]
    exit
try:
    mov64 v16, s0
    mov v18, -1
    mov64 v20, s2
    mov v22, 16
    call v15, nest_launch
    ret v8

# The same launch without the library's look at the parameters: the TMD says only afterwards which are addresses.
# parameters: 0 TMD of the leaf, 8 scratch (16 bytes)
.kernel sneaky
.param 16
.launch
.shared 64
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    mov64 v2, s2
    mov64 v4, 0
    stg.b64 v4, [v2+8]
    mov v4, 16
    mov v5, 0xfffe              # PPU_SHARED_WINDOW
    stg.b64 v4, [v2]
    mov64 v16, s0
    mov64 v20, s2
    mov v22, 16
    call v43, nest_record
    mov64 v36, 1
    stg.b64 v36, [v28+368]      # TMD, addresses
    mov v36, v34
    mov v37, 0
    rdsr v38, %task
    mov v39, -1
    stg.b128 v36, [v28]
    mov v36, 1
    add64 v40, v24, 64
    atomg.add.acq_rel.dev _, [v40], v36
    mov v31, 0
    tstart v34, v31
    exit

# parameters: 0 word, to be counted up
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

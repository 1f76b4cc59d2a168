# SPDX-License-Identifier: MIT
# Warps whose parts run through a piece of the program one after the other (D).

# Loads 64 words into 64 registers and mixes them, last first, 16 times: every thread of a warp at once.
# parameters: 0 table: 16 rows of 64 words, 8 counts, 16 a word for each thread: results (addresses)
# counts: words: 0 warps on SMs now, 4 the most at once, 8 set when no more come: all wait for it
.kernel whole
.wave 64
.param 24
.vregs 88
    call v23, mix_begin
whole_round:
    call v23, mix_row
    isetp.ltu p1, v4, 16
    @p1 bra whole_round
    call v23, mix_end
    exit

# Does the same as `whole`, but the two parts of a warp take turns with the 64 registers.
.kernel parted
.wave 64
.param 24
.vregs 24
.shared_vregs 64
    call v23, mix_begin
parted_round:
    sventer 64
    call v23, mix_row
    svleave
    isetp.ltu p1, v4, 16
    @p1 bra parted_round
    call v23, mix_end
    exit

# Reads the parameters, counts the warp as one that has come, and waits until no more come.
mix_begin:
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b64 s4, [16]
    rdsr v0, %tid.x
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v1, s6, s7, v0          # thread of the grid
    mov v2, v1                  # result
    mov v3, 31
    mov v4, 0                   # round
    mov v5, 0                   # offset of the counts
    mov v6, 1
    isetp.ne p0, v0, 0
    ssy mix_hold
    @p0 bra mix_others
    atomg.add.relaxed.dev v7, [s2+v5], v6
    add v7, v7, 1
    mov v8, 4
    atomg.max.relaxed.dev _, [s2+v8], v7
    sync mix_hold
mix_others:
    sync mix_hold
mix_hold:
    mov v10, 0                  # looks at which no warp had come
    mov v11, 0                  # the most that were seen
mix_look:
    ldg.b32 v12, [s2+v5+8]
    isetp.ne p1, v12, 0
    @p1 bra mix_full
    ldg.b32 v13, [s2+v5+4]
    isetp.eq p1, v13, v11
    mov v11, v13
    add v10, v10, 1
    @!p1 mov v10, 0
    isetp.ltu p1, v10, 20000
    @p1 bra mix_look
    stg.b32 v6, [s2+v5+8]
mix_full:
    ret v23

# Mixes the row of the round into v2: v24 to v87 hold all of it at once.
mix_row:
    add v9, v0, v4
    and v9, v9, 15              # row of the table
    shl v9, v9, 8
    ldg.b128 v24, [s0+v9]
    ldg.b128 v28, [s0+v9+16]
    ldg.b128 v32, [s0+v9+32]
    ldg.b128 v36, [s0+v9+48]
    ldg.b128 v40, [s0+v9+64]
    ldg.b128 v44, [s0+v9+80]
    ldg.b128 v48, [s0+v9+96]
    ldg.b128 v52, [s0+v9+112]
    ldg.b128 v56, [s0+v9+128]
    ldg.b128 v60, [s0+v9+144]
    ldg.b128 v64, [s0+v9+160]
    ldg.b128 v68, [s0+v9+176]
    ldg.b128 v72, [s0+v9+192]
    ldg.b128 v76, [s0+v9+208]
    ldg.b128 v80, [s0+v9+224]
    ldg.b128 v84, [s0+v9+240]
    mad v2, v2, v3, v87
    mad v2, v2, v3, v86
    mad v2, v2, v3, v85
    mad v2, v2, v3, v84
    mad v2, v2, v3, v83
    mad v2, v2, v3, v82
    mad v2, v2, v3, v81
    mad v2, v2, v3, v80
    mad v2, v2, v3, v79
    mad v2, v2, v3, v78
    mad v2, v2, v3, v77
    mad v2, v2, v3, v76
    mad v2, v2, v3, v75
    mad v2, v2, v3, v74
    mad v2, v2, v3, v73
    mad v2, v2, v3, v72
    mad v2, v2, v3, v71
    mad v2, v2, v3, v70
    mad v2, v2, v3, v69
    mad v2, v2, v3, v68
    mad v2, v2, v3, v67
    mad v2, v2, v3, v66
    mad v2, v2, v3, v65
    mad v2, v2, v3, v64
    mad v2, v2, v3, v63
    mad v2, v2, v3, v62
    mad v2, v2, v3, v61
    mad v2, v2, v3, v60
    mad v2, v2, v3, v59
    mad v2, v2, v3, v58
    mad v2, v2, v3, v57
    mad v2, v2, v3, v56
    mad v2, v2, v3, v55
    mad v2, v2, v3, v54
    mad v2, v2, v3, v53
    mad v2, v2, v3, v52
    mad v2, v2, v3, v51
    mad v2, v2, v3, v50
    mad v2, v2, v3, v49
    mad v2, v2, v3, v48
    mad v2, v2, v3, v47
    mad v2, v2, v3, v46
    mad v2, v2, v3, v45
    mad v2, v2, v3, v44
    mad v2, v2, v3, v43
    mad v2, v2, v3, v42
    mad v2, v2, v3, v41
    mad v2, v2, v3, v40
    mad v2, v2, v3, v39
    mad v2, v2, v3, v38
    mad v2, v2, v3, v37
    mad v2, v2, v3, v36
    mad v2, v2, v3, v35
    mad v2, v2, v3, v34
    mad v2, v2, v3, v33
    mad v2, v2, v3, v32
    mad v2, v2, v3, v31
    mad v2, v2, v3, v30
    mad v2, v2, v3, v29
    mad v2, v2, v3, v28
    mad v2, v2, v3, v27
    mad v2, v2, v3, v26
    mad v2, v2, v3, v25
    mad v2, v2, v3, v24
    add v4, v4, 1
    ret v23

# Stores the result, and counts the warp as one that leaves.
mix_end:
    shl v1, v1, 2
    stg.b32 v2, [s4+v1]
    @p0 bra mix_left
    mov v6, -1
    atomg.add.relaxed.dev _, [s2+v5], v6
mix_left:
    ret v23

# Each thread adds up 8 rows of 32 words, one word of each row after the other, so many times. The machine chooses for
# each time whether the parts of the warp do it one after the other.
# parameters: 0 data, 8 a word for each thread: sums (addresses), 16 bytes from a thread's rows to the next one's, 20 times
.kernel reach
.wave 128
.vregs 8
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    ldp.b32 s5, [20]
    rdsr v0, %tid.x
    mul v1, v0, s4
    mov v2, 0                   # sum
reach_again:
    sventer 256
    mov v3, v1
    mov v4, 32                  # words left
reach_word:
    mov v5, v3
    mov v6, 8                   # rows left
reach_row:
    ldg.b32 v7, [s0+v5]
    add v2, v2, v7
    add v5, v5, 128
    sub v6, v6, 1
    isetp.ne p0, v6, 0
    @p0 bra reach_row
    add v3, v3, 4
    sub v4, v4, 1
    isetp.ne p0, v4, 0
    @p0 bra reach_word
    svleave
    sub s5, s5, 1
    isetp.ne.s p1, s5, 0
    @p1 bra reach_again
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    mad v0, s6, s7, v0
    shl v0, v0, 2
    stg.b32 v2, [s2+v0]
    exit

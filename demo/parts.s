# SPDX-License-Identifier: MIT
# Warps whose parts run through a piece of the program one after the other (D).

# Loads 64 words into 64 registers and mixes them, last first, 16 times: every thread of a warp at once.
# parameters: 0 table: 16 rows of 64 words, 8 counts, 16 a word for each thread: results (addresses); 24 warps that there
# is room for
# counts: words: 0 warps on SMs now, 4 the most at once, 8 set when no more come: all wait for it
.kernel whole
.wave 64
.param 28
.vregs 88
    ldp.b32 s10, [24]
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
.param 28
.vregs 24
.shared_vregs 64
    ldp.b32 s10, [24]
    call v23, mix_begin
parted_round:
    sventer 64
    call v23, mix_row
    svleave
    isetp.ltu p1, v4, 16
    @p1 bra parted_round
    call v23, mix_end
    exit

# Reads the parameters.
mix_read:
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
    ret v23

# Does that, counts the warp as one that has come, and waits until s10 have, and no more come. s10 that never come end it
# after very many looks.
mix_begin:
    mov v14, v23
    call v23, mix_read
    mov v23, v14
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
    isetp.ltu p1, v13, s10
    mov v12, 20000
    @p1 mov v12, 1000000
    isetp.ltu p1, v10, v12
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
    sub v6, v5, v6
    atomg.add.relaxed.dev _, [s2+v5], v6
mix_left:
    ret v23

# Loads 64 words, each of another line, into 64 registers and mixes them, 4 times. The machine chooses for each CTA whether
# the two parts of its warp share the registers.
# parameters: as those of `whole`, with data in place of the table; 28 bytes from a thread's words to the next one's, 32 the
# first CTA that is counted: those before it do not wait
.kernel chosen
.wave 64
.param 36
.vregs 24
.shared_vregs 64
.mayshare
    ldp.b32 s10, [24]
    ldp.b32 s8, [28]
    ldp.b32 s9, [32]
    rdsr s6, %cta.x
    isetp.geu.s p2, s6, s9
    @p2 bra chosen_counted
    call v23, mix_read
    bra chosen_begun
chosen_counted:
    call v23, mix_begin
chosen_begun:
    mul v8, v0, s8
chosen_round:
    shl v9, v4, 2
    add v9, v9, v8
    sventer 320
    ldg.b32 v24, [s0+v9+0]
    ldg.b32 v25, [s0+v9+128]
    ldg.b32 v26, [s0+v9+256]
    ldg.b32 v27, [s0+v9+384]
    ldg.b32 v28, [s0+v9+512]
    ldg.b32 v29, [s0+v9+640]
    ldg.b32 v30, [s0+v9+768]
    ldg.b32 v31, [s0+v9+896]
    ldg.b32 v32, [s0+v9+1024]
    ldg.b32 v33, [s0+v9+1152]
    ldg.b32 v34, [s0+v9+1280]
    ldg.b32 v35, [s0+v9+1408]
    ldg.b32 v36, [s0+v9+1536]
    ldg.b32 v37, [s0+v9+1664]
    ldg.b32 v38, [s0+v9+1792]
    ldg.b32 v39, [s0+v9+1920]
    ldg.b32 v40, [s0+v9+2048]
    ldg.b32 v41, [s0+v9+2176]
    ldg.b32 v42, [s0+v9+2304]
    ldg.b32 v43, [s0+v9+2432]
    ldg.b32 v44, [s0+v9+2560]
    ldg.b32 v45, [s0+v9+2688]
    ldg.b32 v46, [s0+v9+2816]
    ldg.b32 v47, [s0+v9+2944]
    ldg.b32 v48, [s0+v9+3072]
    ldg.b32 v49, [s0+v9+3200]
    ldg.b32 v50, [s0+v9+3328]
    ldg.b32 v51, [s0+v9+3456]
    ldg.b32 v52, [s0+v9+3584]
    ldg.b32 v53, [s0+v9+3712]
    ldg.b32 v54, [s0+v9+3840]
    ldg.b32 v55, [s0+v9+3968]
    ldg.b32 v56, [s0+v9+4096]
    ldg.b32 v57, [s0+v9+4224]
    ldg.b32 v58, [s0+v9+4352]
    ldg.b32 v59, [s0+v9+4480]
    ldg.b32 v60, [s0+v9+4608]
    ldg.b32 v61, [s0+v9+4736]
    ldg.b32 v62, [s0+v9+4864]
    ldg.b32 v63, [s0+v9+4992]
    ldg.b32 v64, [s0+v9+5120]
    ldg.b32 v65, [s0+v9+5248]
    ldg.b32 v66, [s0+v9+5376]
    ldg.b32 v67, [s0+v9+5504]
    ldg.b32 v68, [s0+v9+5632]
    ldg.b32 v69, [s0+v9+5760]
    ldg.b32 v70, [s0+v9+5888]
    ldg.b32 v71, [s0+v9+6016]
    ldg.b32 v72, [s0+v9+6144]
    ldg.b32 v73, [s0+v9+6272]
    ldg.b32 v74, [s0+v9+6400]
    ldg.b32 v75, [s0+v9+6528]
    ldg.b32 v76, [s0+v9+6656]
    ldg.b32 v77, [s0+v9+6784]
    ldg.b32 v78, [s0+v9+6912]
    ldg.b32 v79, [s0+v9+7040]
    ldg.b32 v80, [s0+v9+7168]
    ldg.b32 v81, [s0+v9+7296]
    ldg.b32 v82, [s0+v9+7424]
    ldg.b32 v83, [s0+v9+7552]
    ldg.b32 v84, [s0+v9+7680]
    ldg.b32 v85, [s0+v9+7808]
    ldg.b32 v86, [s0+v9+7936]
    ldg.b32 v87, [s0+v9+8064]
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
    svleave
    add v4, v4, 1
    isetp.ltu p1, v4, 4
    @p1 bra chosen_round
    @!p2 mov v6, 0              # it was not counted
    call v23, mix_end
    exit

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

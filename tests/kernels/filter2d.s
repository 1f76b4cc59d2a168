# SPDX-License-Identifier: MIT
# Filters a picture of bytes by a 3 x 3 box: pixels outside count as 0; sum / 9.
# Parameters: 0 in, 8 out (addresses), 16 width, 20 height
.kernel filter2d
.param 24
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    ldp.b32 s4, [16]
    ldp.b32 s5, [20]
    rdsr v0, %tid.x
    rdsr v1, %tid.y
    rdsr s6, %cta.x
    rdsr s7, %ntid.x
    rdsr s8, %cta.y
    rdsr s9, %ntid.y
    mad v0, s6, s7, v0          # x
    mad v1, s8, s9, v1          # y
    isetp.geu p0, v0, s4
    @p0 exit
    isetp.geu p0, v1, s5
    @p0 exit
    mov v2, 0                   # sum
    mov v3, -1                  # dy
row:
    mov v4, -1                  # dx
    add v5, v1, v3
    isetp.geu p1, v5, s5        # above or below the picture
    ssy next_row
    @p1 sync next_row
pixel:
    ssy next_pixel
    add v6, v0, v4
    isetp.geu p2, v6, s4
    @p2 sync next_pixel
    mad v7, v5, s4, v6
    ldg.u8 v8, [s0+v7]
    add v2, v2, v8
    sync next_pixel
next_pixel:
    add v4, v4, 1
    isetp.le p3, v4, 1
    @p3 bra pixel
    sync next_row
next_row:
    add v3, v3, 1
    isetp.le p3, v3, 1
    @p3 bra row
    divu v2, v2, 9
    mad v7, v1, s4, v0
    stg.u8 v2, [s2+v7]
    exit

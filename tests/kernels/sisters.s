# SPDX-License-Identifier: MIT
# Launches children of CTAs that wait for a flag, and one that sets it when its own child, which waits for nobody, has
# ended.
# Parameters: 0 TMD of `child`, 8 words: 0 flag, 4 children that have ended, 8 parents that have, 16 and on parameters of the children,
# 16 bytes for each CTA; 16 the CTA that sets the flag, 20 not 0: the others do not wait for their children
.kernel sisters
.param 32
.launch
.wait
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b64 s2, [8]
    rdsr v1, %cta.x
    mov v2, s2
    mov v3, s3
    shl v4, v1, 4
    add v4, v4, 16
    mov v5, 0
    add64 v20, v4, v2           # parameters: the words, what the child waits for
    stg.b64 v2, [v20]
    ldp.b32 s4, [16]
    isetp.eq p1, v1, s4
    mov v6, 1
    @p1 mov v6, 0
    stg.b32 v6, [v20+8]
    mov64 v16, s0
    mov v18, 0                  # one behind the other: those that wait hold one slot
    @p1 mov v18, -1
    mov v22, 16
    call v15, nest_launch
    ldp.b32 s5, [20]
    isetp.eq p2, s5, 0
    por p2, p2, p1
    @!p2 bra left
    cwait
left:
    mov64 v2, s2
    mov v4, 1
    @p1 stg.b32 v4, [v2]
    add64 v2, v2, 8
    atomg.add _, [v2], v4
    exit

# parameters: 0 words, 8 not 0: waits for the flag
.kernel child
.param 16
    rdsr v0, %tid.x
    isetp.ne p0, v0, 0
    @p0 exit
    ldp.b64 s0, [0]
    ldp.b32 s2, [8]
    isetp.eq p1, s2, 0
    mov64 v2, s0
    mov v4, 0
    pbrk seen
look:
    @p1 brk seen
    atomg.add v5, [v2], v4
    isetp.ne p1, v5, 0
    yield
    bra look
seen:
    mov v4, 1
    add64 v2, v2, 4
    atomg.add _, [v2], v4
    exit

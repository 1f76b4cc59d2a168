# SPDX-License-Identifier: MIT
#
# Allocates memory for threads (B14, ppu/heap.h), without locks. Assembled together with nest.s, whose convention it
# has.

# heap_take: a piece of memory, 16-byte aligned, with anything in it. It is anybody's who knows the address, until it is given back.
#   v16      bytes, at most 2^30
#   v16:v17 out  its address; 0 when the heap has none left, or the address space has no heap
heap_take:
    rdsr v24, %nest.lo
    rdsr v25, %nest.hi
    or v26, v24, v25
    mov v23, PPU_DEVLIB_NO_NEST
    isetp.eq p4, v26, 0
    @p4 bra heap_take_failed
    ldg.b64 v26, [v24+ppu_nest_task.nest_va] # the nest
    ldg.b64 v26, [v26+ppu_nest.heap_va] # the heap
    or v28, v26, v27
    mov v23, PPU_DEVLIB_HEAP_FULL
    isetp.eq p4, v28, 0
    isetp.gtu p5, v16, 0x40000000
    por p4, p4, p5
    @p4 bra heap_take_failed
    add v28, v16, 15
    clz v28, v28
    rsub v28, v28, 32           # class: 2^class >= bytes + 16
    max v28, v28, PPU_HEAP_MIN_CLASS
    mov v29, 1
    shl v29, v29, v28           # bytes of a piece
    shl v30, v28, 3
    mov v31, 0
    add64 v30, v30, v26
    add64 v30, v30, ppu_heap.free # list of the class
    mov v34, 0                  # offset of the piece
    mov v23, 0
    mov v35, 0
    pbrk heap_take_found
heap_take_free:
    ldg.b64 v36, [v30]
    fence.acquire.dev
    isetp.eq p4, v36, 0
    @p4 brk heap_take_found
    mov v32, v36
    mov v33, 0
    add64 v32, v32, v26
    ldg.b32 v38, [v32]          # next; whatever it is when the piece has been taken meanwhile
    add v39, v37, 1
    atomg.cas.acq_rel.dev.b64 v40, [v30], v36
    isetp64.eq p4, v40, v36
    @p4 mov v34, v36
    @p4 brk heap_take_found
    yield
    bra heap_take_free
heap_take_found:
    ldg.b32 v33, [v26+ppu_heap.bytes]
    add64 v40, v26, ppu_heap.used
    pbrk heap_take_end
heap_take_new:
    isetp.ne p4, v34, 0
    @p4 brk heap_take_end
    ldg.b32 v36, [v40]
    sub v32, v33, v36           # bytes left
    isetp.gtu p4, v36, v33
    isetp.ltu p5, v32, v29
    por p4, p4, p5
    @p4 mov v23, PPU_DEVLIB_HEAP_FULL
    @p4 brk heap_take_end
    add v37, v36, v29
    atomg.cas.acq_rel.dev v38, [v40], v36
    isetp.eq p4, v38, v36
    @p4 mov v34, v36
    @p4 brk heap_take_end
    yield
    bra heap_take_new
heap_take_end:
    mov v20, 0                  # looks
    mov v22, 1
    pbrk heap_take_halved
# A piece of a larger class is halved. Who finds none looks again as long as another thread has pieces in its hands, but not
# for ever: that one may have been ended.
heap_take_look:
    isetp.ne p4, v34, 0
    @p4 mov v23, 0
    @p4 brk heap_take_halved
    isetp.eq p4, v20, PPU_HEAP_LOOKS
    ldg.b32 v36, [v26+ppu_heap.begun]
    @p4 stg.b32 v36, [v26+ppu_heap.ended]
    @p4 brk heap_take_halved
    add v20, v20, 1
    ldg.b32 v21, [v26+ppu_heap.ended]
    fence.acquire.dev
    mov v33, v28                # class of a free piece
    shl v30, v33, 3
    mov v31, 0
    add64 v30, v30, v26
    add64 v30, v30, ppu_heap.free
    pbrk heap_take_seen
heap_take_scan:
    isetp.gtu p4, v33, ppu_heap.class_mask
    @p4 brk heap_take_seen
    ldg.b32 v36, [v30]
    isetp.ne p4, v36, 0
    @p4 brk heap_take_seen
    add v33, v33, 1
    add64 v30, v30, 8
    bra heap_take_scan
heap_take_seen:
    fence.acquire.dev
    ldg.b32 v36, [v26+ppu_heap.begun]
    isetp.gtu p5, v33, ppu_heap.class_mask
    isetp.eq p6, v36, v21
    pand p6, p5, p6
    @p6 brk heap_take_halved
    @p5 bra heap_take_again
    add64 v24, v26, ppu_heap.begun
    atomg.add.acq_rel.dev _, [v24], v22
    pbrk heap_take_popped
heap_take_pop:
    ldg.b64 v36, [v30]
    fence.acquire.dev
    isetp.eq p4, v36, 0
    @p4 brk heap_take_popped
    mov v38, v36
    mov v39, 0
    add64 v38, v38, v26
    ldg.b32 v38, [v38]          # next; whatever it is when the piece has been taken meanwhile
    add v39, v37, 1
    atomg.cas.acq_rel.dev.b64 v40, [v30], v36
    isetp64.eq p4, v40, v36
    @p4 mov v34, v36
    @p4 brk heap_take_popped
    yield
    bra heap_take_pop
heap_take_popped:
    pbrk heap_take_small
heap_take_part:
    isetp.eq p4, v34, 0
    isetp.eq p5, v33, v28
    por p4, p4, p5
    @p4 brk heap_take_small
    add v33, v33, -1
    add64 v30, v30, -8
    mov v32, 1
    shl v32, v32, v33
    add v32, v32, v34           # offset of the half that is given back
    mov v44, v32
    mov v45, 0
    add64 v44, v44, v26
    stg.b32 v33, [v44+ppu_heap_piece.in_class]
    pbrk heap_take_part
heap_take_push:
    ldg.b64 v36, [v30]
    stg.b32 v36, [v44]          # next
    mov v38, v32
    add v39, v37, 1
    fence.release.dev
    atomg.cas.acq_rel.dev.b64 v40, [v30], v36
    isetp64.eq p4, v40, v36
    @p4 brk heap_take_part
    yield
    bra heap_take_push
heap_take_small:
    add64 v24, v26, ppu_heap.ended
    atomg.add.acq_rel.dev _, [v24], v22
heap_take_again:
    yield
    bra heap_take_look
heap_take_halved:
    isetp.ne p4, v23, 0
    @p4 bra heap_take_failed
    add64 v34, v34, v26
    stg.b32 v28, [v34+ppu_heap_piece.in_class]
    add64 v16, v34, ppu_heap_piece.size
    ret v15
heap_take_failed:
    rdsr v24, %nest.lo
    rdsr v25, %nest.hi
    or v26, v24, v25
    isetp.ne p4, v26, 0
    @p4 stg.b32 v23, [v24+ppu_nest_task.error]
    mov64 v16, 0
    ret v15

# heap_give: gives back a piece that heap_take returned; 0 is nothing.
#   v16:v17  its address
heap_give:
    or v24, v16, v17
    isetp.eq p4, v24, 0
    @p4 ret v15
    rdsr v24, %nest.lo
    rdsr v25, %nest.hi
    ldg.b64 v26, [v24+ppu_nest_task.nest_va] # the nest
    ldg.b64 v26, [v26+ppu_nest.heap_va] # the heap
    add64 v34, v16, -ppu_heap_piece.size
    ldg.b32 v28, [v34+ppu_heap_piece.in_class]
    and v28, v28, ppu_heap.class_mask
    shl v30, v28, 3
    mov v31, 0
    add64 v30, v30, v26
    add64 v30, v30, ppu_heap.free # list of the class
    sub64 v32, v34, v26         # offset
    pbrk heap_give_end
heap_give_again:
    ldg.b64 v36, [v30]
    stg.b32 v36, [v34]          # next
    mov v38, v32
    add v39, v37, 1
    fence.release.dev
    atomg.cas.acq_rel.dev.b64 v40, [v30], v36
    isetp64.eq p4, v40, v36
    @p4 brk heap_give_end
    yield
    bra heap_give_again
heap_give_end:
    ret v15

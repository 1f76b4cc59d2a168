# SPDX-License-Identifier: MIT
#
# Makes the copies that more than one part of this library needs. Assembled once, together with abi.s and any of
# nest.s, asm/taskq.s and workq.s.

# copy_task: a task descriptor and its parameters. Called with v42; v36 to v39 are lost too.
#   v16:v17       address of a struct ppu_tmd; only the launcher's part is taken
#   v20:v21, v22  parameters and their bytes, as for copy_bytes
#   v28:v29       where the descriptor goes
#   v30:v31       where the parameters go
copy_task:
    ldg.b128 v36, [v16]
    stg.b128 v36, [v28]
    ldg.b128 v36, [v16+16]
    stg.b128 v36, [v28+16]
    ldg.b128 v36, [v16+32]
    stg.b128 v36, [v28+32]
    ldg.b128 v36, [v16+48]
    stg.b128 v36, [v28+48]
    ldg.b128 v36, [v16+64]
    stg.b128 v36, [v28+64]
    ldg.b128 v36, [v16+80]
    stg.b128 v36, [v28+80]
    ldg.b128 v36, [v16+96]
    stg.b128 v36, [v28+96]
    ldg.b128 v36, [v16+112]
    stg.b128 v36, [v28+112]
    stg.b64 v30, [v28+ppu_tmd.param_va]
    stg.b32 v22, [v28+ppu_tmd.param_bytes]

# copy_bytes: v22 bytes, a multiple of 16, from v20:v21 to v30:v31, both 4-byte aligned; these registers are lost. Called with v42.
copy_bytes:
    pbrk copy_done
copy_more:
    isetp.eq p4, v22, 0
    @p4 brk copy_done
    ldg.b128 v36, [v20]
    stg.b128 v36, [v30]
    add64 v20, v20, 16
    add64 v30, v30, 16
    sub v22, v22, 16
    bra copy_more
copy_done:
    ret v42

/* SPDX-License-Identifier: MIT */
/* Knows where the marks of bytes lie whose object is not known: compiler/irpass/sanitize/uninit.c. */
#include "report.h"

/* Address of the mark of the first byte; 0: the bytes have none, and count as written. */
ulong CALLED __ppu_sanitizer_marks(ulong address, ulong bytes)
{
    uint below = 0;

    if ((__ppu_launch(IMPLICIT_TABLES) & PPU_SANITIZER_HAS_MARKED) == 0 || launch64(IMPLICIT_PRINTF_VA) == 0) {
        return 0;
    }
    global struct ppu_sanitizer_table *table = ranges();
#pragma unroll
    for (uint step = PPU_SANITIZER_MARKED_STEP; step != 0; step /= 2) {
        if (below + step <= table->marked_count && table->marked[below + step - 1].begin <= address) {
            below += step;
        }
    }
    if (below == 0) {
        return 0;
    }
    global struct ppu_sanitizer_marked *marked = &table->marked[below - 1];
    return address < marked->end && bytes <= marked->end - address ? marked->marks + (address - marked->begin) : 0;
}

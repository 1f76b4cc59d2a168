/* SPDX-License-Identifier: MIT */
/* Reports accesses outside of objects, and knows what no pointer may reach: compiler/irpass/sanitize/address.c. */
#include "report.h"

void CALLED __ppu_sanitizer_report(uint format, ulong address, ulong base, ulong bytes, ulong value)
{
    report(format, address, base, bytes, value);
}

/* True when the bytes from the address on touch none of the ranges that nothing may reach. Reports them else. */
uint CALLED __ppu_sanitizer_allows(uint format, ulong address, ulong bytes, ulong value)
{
    uint below = 0;

    if ((__ppu_launch(IMPLICIT_TABLES) & PPU_SANITIZER_HAS_RANGES) == 0 || bytes == 0) {
        return 1;
    }
    global struct ppu_sanitizer_table *table = ranges();
#pragma unroll
    for (uint step = PPU_SANITIZER_RANGE_STEP; step != 0; step /= 2) {
        if (below + step <= table->count && table->ranges[below + step - 1].begin < address + bytes) {
            below += step;
        }
    }
    if (below == 0 || table->ranges[below - 1].end <= address) {
        return 1;
    }
    report(format, address, table->ranges[below - 1].begin,
           table->ranges[below - 1].end - table->ranges[below - 1].begin, value);
    return 0;
}

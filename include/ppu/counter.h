/* SPDX-License-Identifier: MIT */
/*
 * Defines the counters of what warps do (A10), from counter.def. An SM has them since reset (registers SM_*), a task's
 * TMD copy has those of the task, and the firmware adds up those of a channel's tasks (keys CHANNEL_*).
 *
 * Transactions: of one pass of an instruction, lanes that follow one another in memory (each at the address behind that
 * of the lane before it, up to the gaps of lanes that do not take part) make one for each PPU_TRANSACTION_BYTES line
 * they touch; lanes that all use one address make one; other lanes make one each.
 *
 * Lines of the caches are counted apart from that: each different line that the lanes of a pass touch is one.
 */
#ifndef PPU_COUNTER_H
#define PPU_COUNTER_H

#define PPU_TRANSACTION_BYTES 128u

enum ppu_counter {
#define PPU_COUNTER(name, number, doc) PPU_COUNTER_##name = (number),
#include "ppu/counter.def"
#undef PPU_COUNTER
    PPU_COUNTERS,
    PPU_COUNTERS_ALWAYS = PPU_COUNTER_L1_HITS, /* as many count whether or not there is PPU_FEATURE_CACHE_MODEL */
};

#endif

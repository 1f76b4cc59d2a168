/* SPDX-License-Identifier: MIT */
/*
 * Defines the tokens of a warp's double-ended queue (E1, E2). Their size follows the wave: 64, 128 or 256 bits for 32,
 * 64 or 128 lanes; always PPU_TOKEN_WORDS(wave) 32-bit words, little-endian.
 *
 *   32 lanes        type 0-3, mask 4-35, address 36-57, summary 58-61, zero 62-63
 *   64, 128 lanes   type 0-7, address 8-39, summary 40-47, zero 48-63, mask 64-127 or 64-191, zero above
 *
 * Address: in instructions from the code base. Summary: which types lie further back in the queue; true when the
 * token is pushed (E10).
 */
#ifndef PPU_TOKEN_H
#define PPU_TOKEN_H

#include "ppu/limits.h"
#include "ppu/macros.h"

enum ppu_token_type {
    PPU_TOKEN_NONE = 0,
    PPU_TOKEN_SYNC = 1,
    PPU_TOKEN_DIVERGE = 2,
    PPU_TOKEN_CALL = 3,
    PPU_TOKEN_YIELD = 4,
    PPU_TOKEN_BRK = 5,
    PPU_TOKEN_CONT = 6,
    PPU_TOKEN_EXIT = 7,
    PPU_TOKEN_TYPES = 8,
};

/* Why a lane is disabled (E3): a token type, or one of these. */
enum ppu_reason {
    PPU_REASON_ACTIVE = 0,
    PPU_REASON_LOOP = 12, /* another part of the warp runs a sub-vector loop (D7) */
    PPU_REASON_PART = 13, /* another part of the warp runs a segment (D3) */
    PPU_REASON_BARRIER = 14,
    PPU_REASON_ENDED = 15,
};

/* Summary bits of a token (E10); bit 58 or 40 of the word is the first. Break, continue and exit tokens count as
 * sync. */
#define PPU_TOKEN_SUM_SYNC (1u << 0)
#define PPU_TOKEN_SUM_DIVERGE (1u << 1)
#define PPU_TOKEN_SUM_CALL (1u << 2)
#define PPU_TOKEN_SUM_YIELD (1u << 3)

#define PPU_TOKENS_DEFAULT 128u /* entries of a queue when the TMD says 0 */
#define PPU_TOKEN_WORDS(wave) ((wave) / 16u)
#define PPU_TOKEN_MAX_WORDS PPU_TOKEN_WORDS(PPU_MAX_WAVE)
#define PPU_WAVE_WORDS(wave) ((wave) / 32u)
#define PPU_MAX_WAVE_WORDS PPU_WAVE_WORDS(PPU_MAX_WAVE)
#define PPU_TOKEN_ALIGN 64u     /* of the queues of a CTA, bytes */
#define PPU_TOKEN_ADDR_BITS 22u /* PPU_MAX_CODE in instructions fits */

struct ppu_token {
    uint32_t type; /* enum ppu_token_type */
    uint32_t address;
    uint32_t summary;
    uint32_t mask[PPU_MAX_WAVE_WORDS]; /* lane n: bit n % 32 of word n / 32 */
};

/* Bytes of the queues of a CTA with so many passes of PPU_LANES lanes; `count` entries a warp, 0: the default. */
static inline uint32_t ppu_token_bytes(uint32_t passes, uint32_t count)
{
    uint32_t bytes = passes * (count ? count : PPU_TOKENS_DEFAULT) * PPU_TOKEN_WORDS(PPU_LANES) * 4u;

    return ppu_align_up(bytes, PPU_TOKEN_ALIGN);
}

/*
 * Gives the entry of the first of `count` tokens in the middle of a space of `entries`: as many are free before it as
 * behind the last one, and `front` more. There is room for `front` more tokens.
 */
static inline uint32_t ppu_token_middle(uint32_t entries, uint32_t count, uint32_t front)
{
    return (entries - count + front) / 2;
}

static inline uint32_t ppu_token_sum_bit(uint32_t type)
{
    switch (type) {
    case PPU_TOKEN_DIVERGE:
        return PPU_TOKEN_SUM_DIVERGE;
    case PPU_TOKEN_CALL:
        return PPU_TOKEN_SUM_CALL;
    case PPU_TOKEN_YIELD:
        return PPU_TOKEN_SUM_YIELD;
    default:
        return PPU_TOKEN_SUM_SYNC;
    }
}

/* Writes a token of a wave of 32, 64 or 128 lanes. */
static inline void ppu_token_pack(uint32_t wave, const struct ppu_token *token, uint32_t *words)
{
    if (wave == 32u) {
        uint64_t bits = (token->type & 15u) | (uint64_t)token->mask[0] << 4 |
                        (uint64_t)(token->address & ((1u << PPU_TOKEN_ADDR_BITS) - 1u)) << 36 |
                        (uint64_t)(token->summary & 15u) << 58;
        words[0] = (uint32_t)bits;
        words[1] = (uint32_t)(bits >> 32);
        return;
    }
    for (uint32_t i = 0; i < PPU_TOKEN_WORDS(wave); i++) {
        words[i] = 0;
    }
    words[0] = (token->type & 0xffu) | token->address << 8;
    words[1] = token->address >> 24 | (token->summary & 15u) << 8;
    for (uint32_t i = 0; i < PPU_WAVE_WORDS(wave); i++) {
        words[2u + i] = token->mask[i];
    }
}

static inline void ppu_token_unpack(uint32_t wave, const uint32_t *words, struct ppu_token *token)
{
    *token = (struct ppu_token){ 0 };
    if (wave == 32u) {
        uint64_t bits = words[0] | (uint64_t)words[1] << 32;
        token->type = bits & 15u;
        token->mask[0] = (uint32_t)(bits >> 4);
        token->address = (uint32_t)(bits >> 36) & ((1u << PPU_TOKEN_ADDR_BITS) - 1u);
        token->summary = (uint32_t)(bits >> 58) & 15u;
        return;
    }
    token->type = words[0] & 0xffu;
    token->address = words[0] >> 8 | words[1] << 24;
    token->summary = (words[1] >> 8) & 15u;
    for (uint32_t i = 0; i < PPU_WAVE_WORDS(wave); i++) {
        token->mask[i] = words[2u + i];
    }
}

#endif

/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/access_span.h"

#include "compiler/analysis/bounds.h"
#include "ppu/macros.h"

#define MOST_SCALE (1ll << 16)
#define MOST_VALUE (1ull << 24)

/* Its values are from 0 to `most`; false: nobody knows. UINT64_MAX: there is no end that matters. */
static bool term_range(const struct ir *ir, const struct affine_term *term, uint32_t block, uint64_t *most)
{
    bool may_be_negative = term->is_signed || ir_bits_of_integer(term->value) == 64;

    *most = bounds_most_in(ir, term->value, block);
    *most = *most <= MOST_VALUE ? *most : UINT64_MAX;
    return *most != UINT64_MAX || !may_be_negative || bounds_natural(ir, term->value, block);
}

static int64_t clamped(int64_t at)
{
    return at < -ACCESS_SPAN_FAR ? -ACCESS_SPAN_FAR : at > ACCESS_SPAN_FAR ? ACCESS_SPAN_FAR : at;
}

/* The address is a sum modulo 2^64, whose parts are far from that. */
struct access_span access_span_of(const struct ir *ir, const struct affine *address, uint64_t bytes, uint32_t block)
{
    const struct access_span all = { -ACCESS_SPAN_FAR, ACCESS_SPAN_FAR };
    struct access_span span = { clamped(address->offset), clamped(address->offset) };

    for (uint32_t i = 0; i < address->count; i++) {
        const struct affine_term *term = &address->terms[i];
        uint64_t most;
        if (term->scale > MOST_SCALE || term->scale < -MOST_SCALE || !term_range(ir, term, block, &most)) {
            return all;
        }
        int64_t far =
            most == UINT64_MAX ? ACCESS_SPAN_FAR : (int64_t)most * (term->scale < 0 ? -term->scale : term->scale);
        span.low = term->scale < 0 ? clamped(span.low - far) : span.low;
        span.high = term->scale > 0 ? clamped(span.high + far) : span.high;
    }
    span.high = clamped(span.high + (int64_t)PPU_MIN(bytes, (uint64_t)ACCESS_SPAN_FAR));
    return span;
}

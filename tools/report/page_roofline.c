/* SPDX-License-Identifier: MIT */
#include "tools/report/page_roofline.h"

#include "ppu/macros.h"

static double a_second(uint64_t count, uint64_t run_ns)
{
    return run_ns != 0 ? (double)count * 1e9 / (double)run_ns : 0;
}

/* The highest rates of any task in the record, as the first ones are slower: thread instructions, and transactions. */
static json_t *limits_of(const struct timeline *limits)
{
    double arithmetic = 0, memory = 0;

    for (uint32_t i = 0; limits && i < limits->kernels; i++) {
        const struct timeline_kernel *kernel = &limits->kernel[i];
        arithmetic = PPU_MAX(arithmetic, kernel->lanes_rate);
        memory = PPU_MAX(memory, kernel->transactions_rate);
    }
    return arithmetic > 0 && memory > 0 ? json_pack("{s:f, s:f}", "instructions", arithmetic, "transactions", memory)
                                        : json_null();
}

json_t *page_roofline(const struct timeline *timeline, const struct timeline *limits)
{
    json_t *points = json_array();

    for (uint32_t i = 0; i < timeline->kernels; i++) {
        const struct timeline_kernel *kernel = &timeline->kernel[i];
        uint64_t lanes = kernel->count[PPU_COUNTER_LANES], transactions = kernel->count[PPU_COUNTER_TRANSACTIONS];
        if (lanes == 0 || transactions == 0 || kernel->run_ns == 0) {
            continue;
        }
        json_t *name = json_string(timeline->texts.text[kernel->name]);
        json_array_append_new(points,
                              json_pack("{s:o, s:f, s:f}", "name", name ? name : json_string("?"), "intensity",
                                        (double)lanes / (double)transactions, "rate", a_second(lanes, kernel->run_ns)));
    }
    return json_pack("{s:o, s:o}", "limits", limits_of(limits), "kernels", points);
}

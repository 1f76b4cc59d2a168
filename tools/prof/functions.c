/* SPDX-License-Identifier: MIT */
#include "tools/prof/functions.h"

#include <stdlib.h>

#define MOST_FUNCTIONS 40u /* that are printed */

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

void functions_print(FILE *to, const struct stacks *stacks)
{
    uint32_t count = 0;
    struct stacks_function *functions = stacks_functions(stacks, &count);
    uint64_t all = stacks->node[0].total;

    fprintf(to, "\nFirmware: %llu instructions of the microcontroller\n", (unsigned long long)all);
    if (stacks->missing != 0) {
        fprintf(to, "%llu of them count with the callers of their functions: there was no room for more stacks\n",
                (unsigned long long)stacks->missing);
    }
    fprintf(to, "%8s %14s %8s %14s  %s\n", "own", "instructions", "total", "instructions", "function");
    for (uint32_t i = 0; i < count && i < MOST_FUNCTIONS; i++) {
        const struct stacks_function *function = &functions[i];
        fprintf(to, "%7.2f%% %14llu %7.2f%% %14llu  %s\n", percent(function->insns, all),
                (unsigned long long)function->insns, percent(function->total, all), (unsigned long long)function->total,
                stacks->texts.text[function->name]);
    }
    if (count > MOST_FUNCTIONS) {
        fprintf(to, "and %u functions with fewer\n", count - MOST_FUNCTIONS);
    }
    free(functions);
}

/* SPDX-License-Identifier: MIT */
#include "compiler/debug/variable.h"

static bool is_alike(const struct debug_variable *a, const struct debug_variable *b)
{
    return a->where == b->where && a->space == b->space && a->value == b->value;
}

void debug_variable_note(struct compilation *compilation, struct debug_variables *variables,
                         const struct debug_variable *variable)
{
    for (uint32_t i = 0; i < variables->count; i++) {
        struct debug_variable *known = &variables->variable[i];
        if (known->variable == variable->variable && known->inlined_at == variable->inlined_at) {
            known->where = is_alike(known, variable) ? known->where : DEBUG_NOWHERE;
            return;
        }
    }
    variables->variable =
        arena_grow(&compilation->arena, variables->variable, sizeof(*variable), variables->count, &variables->cap);
    variables->variable[variables->count++] = *variable;
}

void debug_code_note(struct compilation *compilation, struct debug_code *code, uint32_t insn, uint32_t site)
{
    if (site == 0 || (code->span_count != 0 && code->span[code->span_count - 1].site == site)) {
        return;
    }
    code->span = arena_grow(&compilation->arena, code->span, sizeof(*code->span), code->span_count, &code->span_cap);
    code->span[code->span_count++] = (struct debug_span){ insn, site };
}

void debug_code_add_body(struct compilation *compilation, struct debug_code *code, const struct debug_body *body)
{
    code->body = arena_grow(&compilation->arena, code->body, sizeof(*code->body), code->body_count, &code->body_cap);
    code->body[code->body_count++] = *body;
}

/* SPDX-License-Identifier: MIT */
#include "compiler/debug/scope.h"

#include "compiler/debug/metadata.h"
#include "compiler/debug/site.h"
#include "ppu/macros.h"

bool scope_is_function(LLVMMetadataRef node)
{
    return LLVMGetMetadataKind(node) == LLVMDISubprogramMetadataKind;
}

static LLVMMetadataRef outer(const struct scopes *scopes, LLVMMetadataRef block)
{
    return metadata_operand(scopes->compilation, block, METADATA_SCOPE_OF_BLOCK);
}

static uint32_t add_scope(struct scopes *scopes, LLVMMetadataRef node, LLVMMetadataRef inlined_at, uint32_t parent)
{
    uint32_t number = scopes->count;

    scopes->scope =
        arena_grow(&scopes->compilation->arena, scopes->scope, sizeof(*scopes->scope), scopes->count, &scopes->cap);
    scopes->scope[scopes->count++] = (struct scope){
        .node = node, .inlined_at = inlined_at, .parent = parent, .child = SCOPE_NONE, .next = SCOPE_NONE
    };
    if (parent != SCOPE_NONE) {
        scopes->scope[number].next = scopes->scope[parent].child;
        scopes->scope[parent].child = number;
    }
    return number;
}

uint32_t scope_find(struct scopes *scopes, LLVMMetadataRef node, LLVMMetadataRef inlined_at)
{
    while (node && LLVMGetMetadataKind(node) == LLVMDILexicalBlockFileMetadataKind) {
        node = outer(scopes, node);
    }
    if (!node || (scope_is_function(node) && !inlined_at)) {
        return SCOPE_ROOT;
    }
    for (uint32_t i = 0; i < scopes->count; i++) {
        if (scopes->scope[i].node == node && scopes->scope[i].inlined_at == inlined_at) {
            return i;
        }
    }
    uint32_t parent = scope_is_function(node) ? scope_find(scopes, LLVMDILocationGetScope(inlined_at),
                                                           LLVMDILocationGetInlinedAt(inlined_at))
                                              : scope_find(scopes, outer(scopes, node), inlined_at);
    return add_scope(scopes, node, inlined_at, parent);
}

/* The scope has the instructions, and so has each that it is in. */
static void add_range(struct scopes *scopes, uint32_t number, uint32_t first, uint32_t end)
{
    for (; number != SCOPE_NONE; number = scopes->scope[number].parent) {
        struct scope *scope = &scopes->scope[number];
        struct scope_range *last = scope->range_count != 0 ? &scope->ranges[scope->range_count - 1] : NULL;

        if (last && last->end == first) {
            last->end = end;
            continue;
        }
        scope->ranges = arena_grow(&scopes->compilation->arena, scope->ranges, sizeof(*scope->ranges),
                                   scope->range_count, &scope->range_cap);
        scope->ranges[scope->range_count++] = (struct scope_range){ first, end };
    }
}

void scopes_make(struct scopes *scopes, struct compilation *compilation, const struct debug_code *code,
                 const struct debug_body *body)
{
    *scopes = (struct scopes){ .compilation = compilation };
    add_scope(scopes, NULL, NULL, SCOPE_NONE);
    for (uint32_t i = 0; i < code->span_count; i++) {
        uint32_t first = PPU_MAX(code->span[i].insn, body->first);
        uint32_t end = i + 1 < code->span_count ? code->span[i + 1].insn : body->end;
        LLVMMetadataRef location = site_location(compilation, code->span[i].site);

        end = PPU_MIN(end, body->end);
        if (first < end && location) {
            add_range(scopes,
                      scope_find(scopes, LLVMDILocationGetScope(location), LLVMDILocationGetInlinedAt(location)), first,
                      end);
        }
    }
    for (uint32_t i = 0; i < body->variables->count; i++) {
        const struct debug_variable *variable = &body->variables->variable[i];
        (void)scope_find(scopes, LLVMDIVariableGetScope(variable->variable), variable->inlined_at);
    }
}

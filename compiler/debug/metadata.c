/* SPDX-License-Identifier: MIT */
#include "compiler/debug/metadata.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MOST_OPERANDS 4096u /* of a node that is read; those of larger ones are left out */

static LLVMValueRef as_value(const struct compilation *compilation, LLVMMetadataRef node)
{
    return LLVMMetadataAsValue(compilation->llvm, node);
}

uint32_t metadata_operands(const struct compilation *compilation, LLVMMetadataRef node)
{
    uint32_t count = LLVMGetMDNodeNumOperands(as_value(compilation, node));

    return count <= MOST_OPERANDS ? count : 0;
}

static LLVMValueRef operand_of(const struct compilation *compilation, LLVMMetadataRef node, uint32_t operand)
{
    LLVMValueRef operands[MOST_OPERANDS];

    if (!node || operand >= metadata_operands(compilation, node)) {
        return NULL;
    }
    LLVMGetMDNodeOperands(as_value(compilation, node), operands);
    return operands[operand];
}

LLVMMetadataRef metadata_operand(const struct compilation *compilation, LLVMMetadataRef node, uint32_t operand)
{
    LLVMValueRef value = operand_of(compilation, node, operand);

    return value && LLVMIsAMDNode(value) ? LLVMValueAsMetadata(value) : NULL;
}

static const char *copy_text(struct compilation *compilation, const char *text, size_t bytes)
{
    char *copy = arena_alloc(&compilation->arena, bytes + 1);

    memcpy(copy, text, bytes);
    return copy;
}

const char *metadata_text(struct compilation *compilation, LLVMMetadataRef node, uint32_t operand)
{
    LLVMValueRef value = operand_of(compilation, node, operand);
    unsigned bytes = 0;
    const char *text = value && LLVMIsAMDString(value) ? LLVMGetMDString(value, &bytes) : NULL;

    return text ? copy_text(compilation, text, bytes) : "";
}

bool metadata_number(const struct compilation *compilation, LLVMMetadataRef node, uint32_t operand, uint64_t *number)
{
    LLVMValueRef value = operand_of(compilation, node, operand);

    if (!value || !LLVMIsAConstantInt(value)) {
        return false;
    }
    *number = LLVMConstIntGetZExtValue(value);
    return true;
}

const char *metadata_field(struct compilation *compilation, LLVMMetadataRef node, const char *field)
{
    char *text = LLVMPrintValueToString(as_value(compilation, node));
    const char *word = "";
    char key[32];

    snprintf(key, sizeof(key), "%s: ", field);
    const char *at = strstr(text, key);
    if (at) {
        size_t bytes = 0;
        at += strlen(key);
        while (isalnum((unsigned char)at[bytes]) || at[bytes] == '_' || at[bytes] == '-') {
            bytes++;
        }
        word = copy_text(compilation, at, bytes);
    }
    LLVMDisposeMessage(text);
    return word;
}

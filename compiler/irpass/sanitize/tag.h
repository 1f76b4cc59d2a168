/* SPDX-License-Identifier: MIT */
/* Tags instructions for passes that come later: metadata without content, of a kind that has the tag's name. */
#ifndef COMPILER_IRPASS_SANITIZE_TAG_H
#define COMPILER_IRPASS_SANITIZE_TAG_H

#include "compiler/base/compilation.h"

void tag_set(const struct compilation *compilation, LLVMValueRef insn, const char *name);
bool tag_has(const struct compilation *compilation, LLVMValueRef insn, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* Tells where the objects of a kernel's arguments lie, as its launch says, and compares accesses with bounds. */
#ifndef COMPILER_IRPASS_SANITIZE_BOUNDS_H
#define COMPILER_IRPASS_SANITIZE_BOUNDS_H

#include "compiler/irpass/sanitize/access.h"
#include "compiler/irpass/sanitize/emit.h"

/* Where an object lies: values of 64 bits, NULL: the kernel is not told. */
struct bounds {
    LLVMValueRef base, bytes;
    LLVMValueRef before; /* bytes of it that lie before the argument; NULL: none */
    LLVMValueRef marks;  /* where the marks of its bytes lie; 0: all count as written */
    bool none;           /* the argument comes behind as many as have bounds */
};

/* Emits reads of what the launch says, at the function's begin; one for each argument. The arena's. */
struct bounds *bounds_read(const struct emitter *e, LLVMValueRef function);
/* Bytes of the access as a value of 64 bits. */
LLVMValueRef bounds_length(const struct emitter *e, const struct access *access);
/* Emits whether an access `offset` bytes behind the begin of an object of so many bytes lies in it. */
LLVMValueRef bounds_hold(const struct emitter *e, const struct access *access, LLVMValueRef offset, LLVMValueRef bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* Implements shared virtual memory, coarse grain: VRAM that the PPU sees at the address where the host sees it. */
#ifndef OPENCL_API_SVM_H
#define OPENCL_API_SVM_H

#include "opencl/api/context.h"

struct svm {
    struct svm *next;
    uint8_t *at;
    size_t bytes; /* as asked for */
    struct ppu_memory *memory;
    struct allocation *allocation; /* for reports; NULL: none */
};

/* True when all the bytes lie in one piece of the context's. */
bool svm_holds(cl_context context, const void *at, size_t bytes);

/* The piece of the context's that holds the byte: its begin and its size; false: none does. */
bool svm_piece(cl_context context, const void *at, uint64_t *start, uint64_t *bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Implements buffers: bytes in VRAM that the host sees too, so that mapping one costs nothing. With CL_MEM_USE_HOST_PTR
 * the program's own memory is brought up to date by map, and its changes are taken over by unmap.
 */
#ifndef OPENCL_API_BUFFER_H
#define OPENCL_API_BUFFER_H

#include "opencl/api/context.h"
#include "opencl/api/event.h"

struct mapped {
    struct mapped *next;
    void *pointer;
    size_t offset, bytes;
    bool writes; /* unmap takes over what the program wrote */
};

struct _cl_mem {
    struct object object;
    cl_context context;
    cl_mem parent; /* in use; NULL: no sub-buffer */
    size_t origin; /* in the parent */
    size_t bytes;
    cl_mem_flags flags;
    void *host_ptr;            /* as given with USE_HOST_PTR */
    bool shadow;               /* host_ptr is not where the bytes are */
    struct ppu_memory *memory; /* NULL: a parent's, or shared virtual memory's */
    uint8_t *at;               /* first byte, for the host */
    uint64_t va;               /* the same, for the PPU */
    cl_mem_properties *properties;
    size_t property_bytes;

    /* The context's lock guards these. */
    struct mapped *mapped; /* list */
    cl_uint map_count;
    struct farewell *farewells;
};

/* OUT_OF_RESOURCES... */
bool buffer_is(cl_mem memory);
/* True when the bytes lie inside. */
bool buffer_holds(cl_mem memory, size_t offset, size_t bytes);

#endif

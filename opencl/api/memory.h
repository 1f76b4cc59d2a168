/* SPDX-License-Identifier: MIT */
/*
 * Keeps memory objects: buffers and images. Their bytes lie in VRAM that the host sees too, so that mapping one costs
 * nothing. With CL_MEM_USE_HOST_PTR the program's own memory is brought up to date by map, and its changes are taken
 * over by unmap.
 */
#ifndef OPENCL_API_MEMORY_H
#define OPENCL_API_MEMORY_H

#include "opencl/api/context.h"
#include "opencl/api/event.h"

struct image;

struct mapped {
    struct mapped *next;
    void *pointer;
    size_t offset;
    size_t region[3];  /* bytes of a row, rows, slices */
    size_t row, slice; /* pitches in bytes */
    bool writes;       /* unmap takes over what the program wrote */
};

struct _cl_mem {
    struct object object;
    cl_context context;
    cl_mem parent; /* in use; of a sub-buffer, or of an image in the memory of another object; or NULL */
    size_t origin; /* in the root of its parents */
    size_t bytes;
    cl_mem_flags flags;
    void *host_ptr;                /* as given with USE_HOST_PTR */
    bool shadow;                   /* host_ptr is not where the bytes are */
    struct ppu_memory *own;        /* NULL: a parent's, or shared virtual memory's */
    struct image *image;           /* NULL: a buffer or a pipe */
    struct allocation *allocation; /* for reports; NULL: none */
    struct marks *marks;           /* of a root: which bytes were written; NULL: all count as written */
    cl_uint packet_bytes;          /* of a pipe */
    cl_uint packets;               /* that a pipe has room for; 0: no pipe */
    uint8_t *at;                   /* first byte, for the host */
    uint64_t va;                   /* the same, for the PPU */
    cl_mem_properties *properties;
    size_t property_bytes;

    /* The context's lock guards these. */
    struct mapped *mapped; /* list */
    cl_uint map_count;
    struct farewell *farewells;
};

bool memory_is(cl_mem memory);
/* The object whose bytes it shares, or itself. */
cl_mem memory_root(cl_mem memory);
cl_int memory_check_flags(cl_mem_flags flags);
/* Completes the flags of an object in the memory of one with `parent`; what both say must agree. */
cl_int memory_inherit(cl_mem_flags parent, cl_mem_flags *flags);
bool memory_host_may_read(cl_mem memory);
bool memory_host_may_write(cl_mem memory);
/* OpenCL 3.0 defines no property of memory objects: a list is empty. */
cl_int memory_check_properties(cl_context context, const cl_mem_properties *properties);
/* Keeps the list, for queries; NULL is none. */
void memory_note_properties(cl_mem memory, const cl_mem_properties *properties);
/* Without bytes yet. NULL: no memory. */
cl_mem memory_new(cl_context context, cl_mem_flags flags, size_t bytes);
/* True when VRAM was missing, and what was still being closed has given its own back: it may be there now. */
bool memory_is_back(enum ppu_err err);
/* VRAM for an object, in its context's address space. The caller's. */
enum ppu_err memory_take_vram(cl_context context, uint64_t bytes, struct ppu_memory **out);
/* The error of a creation that libppu has refused. */
cl_int memory_error(enum ppu_err err);

#endif

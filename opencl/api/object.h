/* SPDX-License-Identifier: MIT */
/*
 * Declares the head that every object behind a handle of the API begins with. An object has two counts: the program's
 * references, which clRetain and clRelease move and queries show, and its uses, one for all references together and one
 * for each object or command that needs it. It is destroyed with its last use.
 */
#ifndef OPENCL_API_OBJECT_H
#define OPENCL_API_OBJECT_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_egl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>

#include <stdbool.h>
#include <stdint.h>

#include "opencl/api/cl_ppu.h"

struct weak;

enum object_kind {
    OBJECT_NONE = 0,
    OBJECT_platform,
    OBJECT_device,
#define CL_OBJECT(noun, kind, handle, invalid) OBJECT_##kind,
#include "opencl/api/object.def"
#undef CL_OBJECT
};

struct object {
    const cl_icd_dispatch *dispatch; /* first: the ICD loader looks for it here */
    enum object_kind kind;
    uint32_t references; /* atomic */
    uint32_t uses;       /* atomic */
    struct weak *weak;   /* list of the weak references to it (weak.h) */
};

extern const cl_icd_dispatch dispatch_table;

/* Called with the last use. */
#define CL_OBJECT(noun, kind, handle, invalid) void kind##_destroy(void *object);
#include "opencl/api/object.def"
#undef CL_OBJECT

/* With one reference. */
void object_init(struct object *object, enum object_kind kind);
/* True for a live object of that kind; NULL is none. */
bool object_is(const void *handle, enum object_kind kind);
void object_use(void *handle);
/* Uses an object that may end meanwhile; false: it is about to. */
bool object_use_again(void *handle);
/* The last one destroys it; NULL has none. */
void object_drop(void *handle);
cl_uint object_references(const void *handle);
/* One reference more for the program; false: the last one was given back meanwhile. */
bool object_retain(void *handle);

#endif

/* SPDX-License-Identifier: MIT */
#include "opencl/api/object.h"

#include <stddef.h>

#include "opencl/api/weak.h"

static void (*const destroy[])(void *object) = {
#define CL_OBJECT(noun, kind, handle, invalid) [OBJECT_##kind] = kind##_destroy,
#include "opencl/api/object.def"
#undef CL_OBJECT
};

void object_init(struct object *object, enum object_kind kind)
{
    *object = (struct object){ .dispatch = &dispatch_table, .kind = kind, .references = 1, .uses = 1 };
}

bool object_is(const void *handle, enum object_kind kind)
{
    const struct object *object = handle;

    return object && object->dispatch == &dispatch_table && object->kind == kind;
}

void object_use(void *handle)
{
    struct object *object = handle;

    __atomic_add_fetch(&object->uses, 1, __ATOMIC_RELAXED);
}

/* One more, unless there is none any more. */
static bool count_up(uint32_t *count)
{
    uint32_t old = __atomic_load_n(count, __ATOMIC_RELAXED);

    do {
        if (old == 0) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(count, &old, old + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

bool object_use_again(void *handle)
{
    return count_up(&((struct object *)handle)->uses);
}

void object_drop(void *handle)
{
    struct object *object = handle;

    /* Partner: itself. Who destroys sees what all other users did. */
    if (object && __atomic_sub_fetch(&object->uses, 1, __ATOMIC_ACQ_REL) == 0) {
        weak_end(object);
        destroy[object->kind](object);
    }
}

cl_uint object_references(const void *handle)
{
    const struct object *object = handle;

    return __atomic_load_n(&object->references, __ATOMIC_RELAXED);
}

bool object_retain(void *handle)
{
    return count_up(&((struct object *)handle)->references);
}

static void retain(struct object *object)
{
    __atomic_add_fetch(&object->references, 1, __ATOMIC_RELAXED);
}

/* False: there was no reference to give back. */
static bool release_reference(struct object *object)
{
    uint32_t references = object_references(object);

    do {
        if (references == 0) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(&object->references, &references, references - 1, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    if (references == 1) {
        object_drop(object);
    }
    return true;
}

#define CL_OBJECT(noun, kind, handle, invalid)                                    \
    cl_int clRetain##noun(handle object)                                          \
    {                                                                             \
        if (!object_is(object, OBJECT_##kind)) {                                  \
            return invalid;                                                       \
        }                                                                         \
        retain((struct object *)object);                                          \
        return CL_SUCCESS;                                                        \
    }                                                                             \
    cl_int clRelease##noun(handle object)                                         \
    {                                                                             \
        if (!object_is(object, OBJECT_##kind)) {                                  \
            return invalid;                                                       \
        }                                                                         \
        return release_reference((struct object *)object) ? CL_SUCCESS : invalid; \
    }
#include "opencl/api/object.def"
#undef CL_OBJECT

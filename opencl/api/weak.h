/* SPDX-License-Identifier: MIT */
/* Defines weak references to objects: they do not keep an object alive, and are empty when it has ended. */
#ifndef OPENCL_API_WEAK_H
#define OPENCL_API_WEAK_H

#include <stdbool.h>

/* Zeros: it refers to nothing. It may not be moved while it refers to an object. */
struct weak {
    void *object;       /* NULL: nothing, or it has ended */
    bool ended;         /* the object has */
    struct weak *next;  /* of those that refer to the same object */
    struct weak **link; /* what points to this one */
};

/* Lets it refer to another object, which the caller uses; NULL: to nothing. */
void weak_set(struct weak *weak, void *object);
/* The object, with a use for the caller, or NULL when it refers to nothing. False: the object has ended. */
bool weak_take(const struct weak *weak, void **object);
/* Empties all that referred to the object: nobody uses it any more. */
void weak_end(void *object);

#endif

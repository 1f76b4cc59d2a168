/* SPDX-License-Identifier: MIT */
/*
 * Recognises programs with more rights than their starter: neither the environment nor the current folder says what
 * they run.
 */
#ifndef RUNTIME_PRIVILEGE_H
#define RUNTIME_PRIVILEGE_H

#include <stdbool.h>
#include <sys/auxv.h>

/* Variables are read by secure_getenv(), which has none of them then. */
static inline bool is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

static inline bool may_open(const char *path)
{
    return *path == '/' || !is_privileged();
}

#endif

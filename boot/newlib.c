/* SPDX-License-Identifier: MIT */
/*
 * Implements what newlib needs from its system. There is no heap, there are no files: every one of these fails as it
 * may.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>

/* Called by the library, which the compiler does not see. */
__attribute__((used)) void *_sbrk(ptrdiff_t increment);

void *_sbrk(ptrdiff_t increment)
{
    (void)increment;
    errno = ENOMEM;
    return (void *)-1;
}

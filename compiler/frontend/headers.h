/* SPDX-License-Identifier: MIT */
/*
 * Writes the headers that a source may include to files. clang reads files only. They lie in a folder of their own for
 * as long as it runs. The source lies beside them, because a name in quotes is looked for beside the file that includes
 * it.
 */
#ifndef COMPILER_FRONTEND_HEADERS_H
#define COMPILER_FRONTEND_HEADERS_H

#include "compiler/base/bytes.h"
#include "compiler/ppu_compiler.h"

struct headers {
    char *folder; /* NULL: there are none */
    char *source; /* path of a file in it that is no header */
    char *option; /* that makes clang look for headers there */
};

/* Makes folder and headers; what is wrong goes into `log`. To be removed also after an error. */
enum ppu_compile_status headers_write(struct headers *headers, const struct ppu_compile_options *options,
                                      struct bytes *log);
void headers_remove(struct headers *headers);

#endif

/* SPDX-License-Identifier: MIT */
/* Cuts the device library into shards. */
#ifndef TOOLS_MKLIBRARY_SHARDS_H
#define TOOLS_MKLIBRARY_SHARDS_H

#include <llvm-c/Types.h>
#include <stdbool.h>

/* Writes the library's file (compiler/frontend/library_file.h). False: errno says why not. */
bool shards_write(LLVMModuleRef library, const char *path);

#endif

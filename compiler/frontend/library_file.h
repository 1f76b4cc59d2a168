/* SPDX-License-Identifier: MIT */
/*
 * Defines the file of the device library, which mklibrary writes and the compiler has in it. The library is cut into
 * shards, as linking takes time for each function of a module, called or not. A shard is a module with all that its
 * functions call, so functions may be in several. In this order, without padding but before a shard's bitcode:
 *
 *   struct library_head
 *   struct library_name [names]   sorted by their texts (strcmp)
 *   struct library_shard [shards]
 *   text                          names, each with a final zero
 *   bitcode of each shard         at a multiple of LIBRARY_ALIGN
 *
 * Offsets are bytes from the file's begin. Who reads it has the byte order of who wrote it.
 */
#ifndef COMPILER_FRONTEND_LIBRARY_FILE_H
#define COMPILER_FRONTEND_LIBRARY_FILE_H

#include <stdint.h>

#define LIBRARY_ALIGN 16u

struct library_head {
    uint32_t names;
    uint32_t shards;
};

struct library_name {
    uint32_t text;  /* offset */
    uint32_t shard; /* number of the shard that defines the function */
};

struct library_shard {
    uint32_t at; /* offset of its bitcode */
    uint32_t bytes;
};

#endif

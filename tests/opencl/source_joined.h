/* SPDX-License-Identifier: MIT */
/* Starts the joined machine that OpenCL tests run on; a test that defines one of these has another one. */
#ifndef TESTS_OPENCL_SOURCE_JOINED_H
#define TESTS_OPENCL_SOURCE_JOINED_H

#include <stdint.h>

struct joined_options;

extern uint64_t source_joined_vram_bytes;

void source_joined_adjust(struct joined_options *options);

#endif

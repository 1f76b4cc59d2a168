/* SPDX-License-Identifier: MIT */
/* Starts the joined machine that OpenCL tests run on; a test that defines the function has another one. */
#ifndef TESTS_OPENCL_SOURCE_JOINED_H
#define TESTS_OPENCL_SOURCE_JOINED_H

struct joined_options;

void source_joined_adjust(struct joined_options *options);

#endif

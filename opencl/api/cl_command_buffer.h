/* SPDX-License-Identifier: MIT */
/*
 * Declares cl_khr_command_buffer 0.9.8. Debian's headers have 0.9.0, whose functions take other parameters under the
 * same names: these have names of their own, and clGetExtensionFunctionAddressForPlatform() finds them by the
 * extension's.
 */
#ifndef OPENCL_API_CL_COMMAND_BUFFER_H
#define OPENCL_API_CL_COMMAND_BUFFER_H

#include "opencl/api/object.h"

#define COMMAND_BUFFER_PRINTF ((cl_bitfield)1 << 0)
#define COMMAND_BUFFER_DEVICE_ENQUEUE ((cl_bitfield)1 << 1)
#define COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES 0x129A /* query of a device */
#define COMMAND_BUFFER_CONTEXT 0x1299                    /* of a command buffer */

cl_command_buffer_khr command_buffer_create(cl_uint num_queues, const cl_command_queue *queues,
                                            const cl_command_buffer_properties_khr *properties, cl_int *errcode);
cl_int command_buffer_finalize(cl_command_buffer_khr buffer);
cl_int command_buffer_enqueue(cl_uint num_queues, cl_command_queue *queues, cl_command_buffer_khr buffer, cl_uint count,
                              const cl_event *events, cl_event *out);
cl_int command_buffer_info(cl_command_buffer_khr buffer, cl_command_buffer_info_khr query, size_t bytes, void *at,
                           size_t *size_ret);

/* The last parameters of every function that records a command. */
#define SYNC_PARAMETERS \
    cl_uint count, const cl_sync_point_khr *points, cl_sync_point_khr *point, cl_mutable_command_khr *mutable_handle
/* And the first. */
#define RECORD_PARAMETERS cl_command_buffer_khr buffer, cl_command_queue queue, const cl_properties *properties

cl_int command_buffer_barrier(RECORD_PARAMETERS, SYNC_PARAMETERS);
cl_int command_buffer_copy_buffer(RECORD_PARAMETERS, cl_mem src, cl_mem dst, size_t src_offset, size_t dst_offset,
                                  size_t bytes, SYNC_PARAMETERS);
cl_int command_buffer_copy_rect(RECORD_PARAMETERS, cl_mem src, cl_mem dst, const size_t *src_origin,
                                const size_t *dst_origin, const size_t *region, size_t src_row, size_t src_slice,
                                size_t dst_row, size_t dst_slice, SYNC_PARAMETERS);
cl_int command_buffer_buffer_to_image(RECORD_PARAMETERS, cl_mem src, cl_mem dst, size_t src_offset,
                                      const size_t *dst_origin, const size_t *region, SYNC_PARAMETERS);
cl_int command_buffer_copy_image(RECORD_PARAMETERS, cl_mem src, cl_mem dst, const size_t *src_origin,
                                 const size_t *dst_origin, const size_t *region, SYNC_PARAMETERS);
cl_int command_buffer_image_to_buffer(RECORD_PARAMETERS, cl_mem src, cl_mem dst, const size_t *src_origin,
                                      const size_t *region, size_t dst_offset, SYNC_PARAMETERS);
cl_int command_buffer_fill_buffer(RECORD_PARAMETERS, cl_mem memory, const void *pattern, size_t pattern_bytes,
                                  size_t offset, size_t bytes, SYNC_PARAMETERS);
cl_int command_buffer_fill_image(RECORD_PARAMETERS, cl_mem image, const void *colour, const size_t *origin,
                                 const size_t *region, SYNC_PARAMETERS);
cl_int command_buffer_kernel(RECORD_PARAMETERS, cl_kernel kernel, cl_uint dim, const size_t *offset,
                             const size_t *global, const size_t *local, SYNC_PARAMETERS);
cl_int command_buffer_svm_copy(RECORD_PARAMETERS, void *dst, const void *src, size_t bytes, SYNC_PARAMETERS);
cl_int command_buffer_svm_fill(RECORD_PARAMETERS, void *dst, const void *pattern, size_t pattern_bytes, size_t bytes,
                               SYNC_PARAMETERS);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Models the caches of SMs (A10), and the second level that they share. */
#ifndef QEMU_DEVICE_CORE_SM_CACHE_H
#define QEMU_DEVICE_CORE_SM_CACHE_H

#include <pthread.h>
#include <stdbool.h>

#include "qemu-device/core/sm/cache_model.h"

struct core_config;

#define CACHE_LOCKS 64u

/* The second level; its sets are shared by SM threads. */
struct cache_l2 {
    struct cache cache;
    pthread_mutex_t lock[CACHE_LOCKS]; /* of set n: n modulo CACHE_LOCKS; below all others */
};

bool cache_l2_init(struct cache_l2 *l2, const struct core_config *config);
void cache_l2_free(struct cache_l2 *l2);

#endif

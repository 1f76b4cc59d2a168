/* SPDX-License-Identifier: MIT */
/* Drives a PPU whose configuration space, registers and doorbells are regions of this process. */
#ifndef RUNTIME_VFIO_MAPPED_FUNCTION_H
#define RUNTIME_VFIO_MAPPED_FUNCTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/mailbox.h"
#include "runtime/transport.h"
#include "runtime/vfio/region.h"

struct mapped_function {
    struct ppu_transport transport;
    struct vfio_region config, regs, doorbells; /* opened by the transport that has this */
    struct vfio_region box;                     /* likewise; without areas where the function has no mailbox */
    struct ppu_mailbox *mailbox;                /* in `box`; NULL: doorbells are rung in their pages only */
    pthread_mutex_t lock;                       /* of the command register, and of what the transport says */
};

/* Uses the mailbox, when `box` is one that is mapped and this processor can. */
void mapped_function_use_mailbox(struct mapped_function *function);

/* Operations of struct ppu_transport_ops, for transports that are in a struct mapped_function. */
uint32_t mapped_function_reg_read(struct ppu_transport *transport, uint32_t offset);
void mapped_function_reg_write(struct ppu_transport *transport, uint32_t offset, uint32_t value);
uint32_t mapped_function_doorbell_read(struct ppu_transport *transport, uint64_t offset);
void mapped_function_doorbell_write(struct ppu_transport *transport, uint64_t offset, uint32_t value);
void mapped_function_window_read(struct ppu_transport *transport, uint32_t offset, void *buf, uint32_t len_bytes);
void mapped_function_window_write(struct ppu_transport *transport, uint32_t offset, const void *buf,
                                  uint32_t len_bytes);
void mapped_function_set_bus_master(struct ppu_transport *transport, bool on);

#endif

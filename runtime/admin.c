/* SPDX-License-Identifier: MIT */
#include "runtime/admin.h"

#include "runtime/deadline.h"
#include "runtime/device.h"
#include "runtime/shared.h"

#define ADMIN_VECTORS (1u << PPU_VECTOR_ADMIN | 1u << PPU_VECTOR_ERROR)
#define NO_SLOT PPU_ADMIN_ENTRIES

void admin_init(struct admin *admin, struct ppu_admin_queue *queue)
{
    *admin = (struct admin){ .queue = queue };
    pthread_mutex_init(&admin->lock, NULL);
}

void admin_fini(struct admin *admin)
{
    pthread_mutex_destroy(&admin->lock);
}

/* Takes a reply of the firmware to whoever waits for it; one that nobody asked for is dropped. */
static void admin_deliver(struct admin *admin, const struct ppu_admin_msg *reply)
{
    uint32_t slot = reply->seq % PPU_ADMIN_ENTRIES;

    if (admin->pending[slot].seq != reply->seq) {
        return;
    }
    if (admin->pending[slot].state == ADMIN_SENT) {
        admin->pending[slot].reply = *reply;
        admin->pending[slot].state = ADMIN_ANSWERED;
    } else if (admin->pending[slot].state == ADMIN_ABANDONED) {
        admin->pending[slot].state = ADMIN_FREE;
    }
}

static void admin_collect(struct admin *admin)
{
    uint32_t tail = shared_load_acquire(&admin->queue->reply_tail); /* partner: the firmware's release */

    /* A tail that is too far ahead is nonsense; the requests then time out. */
    if (tail - admin->reply_head > PPU_ADMIN_ENTRIES) {
        return;
    }
    while (admin->reply_head != tail) {
        struct ppu_admin_msg reply = admin->queue->reply[admin->reply_head % PPU_ADMIN_ENTRIES];
        admin->reply_head++;
        admin_deliver(admin, &reply);
    }
    shared_store_release(&admin->queue->reply_head, admin->reply_head); /* partner: the firmware's acquire */
}

/* Index in `pending` of the request sent, NO_SLOT when all are in use. */
static uint32_t admin_send(struct admin *admin, struct ppu_admin_msg *request)
{
    for (uint32_t slot = 0; slot < PPU_ADMIN_ENTRIES; slot++) {
        if (admin->pending[slot].state != ADMIN_FREE) {
            continue;
        }
        request->seq = admin->lap++ * PPU_ADMIN_ENTRIES + slot;
        admin->pending[slot].state = ADMIN_SENT;
        admin->pending[slot].seq = request->seq;
        admin->queue->request[admin->request_tail % PPU_ADMIN_ENTRIES] = *request;
        admin->request_tail++;
        shared_store_release(&admin->queue->request_tail, admin->request_tail); /* partner: the firmware's acquire */
        return slot;
    }
    return NO_SLOT;
}

/* True: *reply is the answer to the request in `slot`, which is free again. */
static bool admin_answered(struct admin *admin, uint32_t slot, struct ppu_admin_msg *reply)
{
    pthread_mutex_lock(&admin->lock);
    admin_collect(admin);
    bool answered = admin->pending[slot].state == ADMIN_ANSWERED;
    if (answered) {
        *reply = admin->pending[slot].reply;
        admin->pending[slot].state = ADMIN_FREE;
    }
    pthread_mutex_unlock(&admin->lock);
    return answered;
}

static void admin_abandon(struct admin *admin, uint32_t slot)
{
    pthread_mutex_lock(&admin->lock);
    admin->pending[slot].state = admin->pending[slot].state == ADMIN_ANSWERED ? ADMIN_FREE : ADMIN_ABANDONED;
    pthread_mutex_unlock(&admin->lock);
}

/* Waits for an interrupt with libppu's own limit. */
static enum ppu_err wait_for_firmware(struct ppu_device *device, uint64_t mark, struct machine_clock *clock,
                                      uint64_t *deadline_ns)
{
    enum ppu_err err = device_wait(device, ADMIN_VECTORS, mark, *deadline_ns);

    return err == PPU_ERR_TIMEOUT && device_puts_off(device, clock, deadline_ns) ? PPU_OK : err;
}

static enum ppu_err admin_post(struct ppu_device *device, struct ppu_admin_msg *request, uint32_t *slot)
{
    struct admin *admin = &device->admin;
    struct machine_clock clock = device_clock(device);
    uint64_t deadline_ns = deadline_after(device->timeout_ns);

    for (;;) {
        uint64_t mark = interrupts_mark(&device->interrupts);
        pthread_mutex_lock(&admin->lock);
        admin_collect(admin);
        *slot = admin_send(admin, request);
        pthread_mutex_unlock(&admin->lock);
        if (*slot != NO_SLOT) {
            device_reg_write(device, PPU_REG_ADMIN_DOORBELL, 1);
            return PPU_OK;
        }
        enum ppu_err err = wait_for_firmware(device, mark, &clock, &deadline_ns);
        if (err != PPU_OK) {
            return err;
        }
    }
}

static enum ppu_err admin_wait(struct ppu_device *device, uint32_t slot, struct ppu_admin_msg *reply)
{
    struct machine_clock clock = device_clock(device);
    uint64_t deadline_ns = deadline_after(device->timeout_ns);

    for (;;) {
        uint64_t mark = interrupts_mark(&device->interrupts);
        if (admin_answered(&device->admin, slot, reply)) {
            return PPU_OK;
        }
        enum ppu_err err = wait_for_firmware(device, mark, &clock, &deadline_ns);
        if (err != PPU_OK) {
            admin_abandon(&device->admin, slot);
            return err;
        }
    }
}

static const char *operation_text(enum ppu_admin_op op)
{
    switch (op) {
#define PPU_ADMIN(name, op, arguments, results, doc) \
    case PPU_ADMIN_##name:                           \
        return "admin request " #name;
#include "ppu/admin.def"
#undef PPU_ADMIN
    }
    return "admin request";
}

static enum ppu_err admin_refused(struct ppu_device *device, enum ppu_admin_op op, const struct ppu_admin_msg *reply)
{
    struct ppu_error error;

    error_from_reply(&error, operation_text(op), reply->status, reply->payload);
    device_record_error(device, &error);
    return error.code;
}

enum ppu_err admin_call(struct ppu_device *device, enum ppu_admin_op op, const uint32_t *args, uint32_t arg_count,
                        uint32_t *results, uint32_t result_count)
{
    struct ppu_admin_msg message = {
        .head = { PPU_ADMIN_VERSION, sizeof(message) },
        .op = (uint16_t)op,
    };
    uint32_t slot = NO_SLOT;

    for (uint32_t i = 0; i < arg_count; i++) {
        message.arg[i] = args[i];
    }
    enum ppu_err err = admin_post(device, &message, &slot);
    if (err == PPU_OK) {
        err = admin_wait(device, slot, &message);
    }
    if (err != PPU_OK) {
        return err;
    }
    if (message.status != PPU_FAULT_NONE) {
        return admin_refused(device, op, &message);
    }
    for (uint32_t i = 0; i < result_count; i++) {
        results[i] = message.arg[i];
    }
    return PPU_OK;
}

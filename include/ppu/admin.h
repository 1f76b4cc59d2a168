/* SPDX-License-Identifier: MIT */
/*
 * Defines the admin queue, by which the driver creates and destroys objects. Requests and replies are two rings of the
 * same messages in VRAM. The host writes a request, then request_tail, then ADMIN_DOORBELL. The firmware answers each
 * request exactly once, not always in order (`seq` pairs them), writes reply_tail and raises PPU_VECTOR_ADMIN. It takes
 * no request while the reply ring has no room.
 */
#ifndef PPU_ADMIN_H
#define PPU_ADMIN_H

#include "ppu/base.h"

enum ppu_admin_op {
#define PPU_ADMIN(name, op, args, results, doc) PPU_ADMIN_##name = (op),
#include "ppu/admin.def"
#undef PPU_ADMIN
};

enum ppu_key {
#define PPU_KEY(name, key, object, doc) PPU_KEY_##name = (key),
#include "ppu/key.def"
#undef PPU_KEY
};

#define PPU_MAX_LIMIT_MS 3600000u /* of a task's time, when it has a limit */

enum ppu_policy {
#define PPU_POLICY(name, number, least, most, first, reg, doc) PPU_POLICY_##name = (number),
#include "ppu/policy.def"
#undef PPU_POLICY
    PPU_POLICIES,
};

enum ppu_resource {
#define PPU_RESOURCE(name, number, kept, doc) PPU_RESOURCE_##name = (number),
#include "ppu/resource.def"
#undef PPU_RESOURCE
    PPU_RESOURCES,
};
#define PPU_RESOURCE_OBJECT(context, resource) ((context) | (uint32_t)(resource) << 16) /* of the keys CONTEXT_* */

#define PPU_ADMIN_VERSION 1u
#define PPU_ADMIN_ARGS 12u
#define PPU_ADMIN_ENTRIES 16u

struct ppu_admin_msg {
    struct ppu_struct_header head; /* PPU_ADMIN_VERSION, sizeof(struct ppu_admin_msg) */
    uint16_t op;                   /* enum ppu_admin_op */
    uint16_t status;               /* reply: fault.def, 0 done; request: 0 */
    uint32_t seq;                  /* chosen by the host, repeated by the reply */
    uint32_t payload;              /* reply: low word of what the fault.def row says; request: 0 */
    uint32_t arg[PPU_ADMIN_ARGS];  /* admin.def; unused words zero */
};
PPU_ASSERT_SIZE(struct ppu_admin_msg, 64);

struct ppu_admin_queue {
    uint32_t request_tail; /* host */
    uint32_t reply_head;   /* host */
    uint32_t reserved0[14];
    uint32_t request_head; /* firmware */
    uint32_t reply_tail;   /* firmware */
    uint32_t reserved1[14];
    struct ppu_admin_msg request[PPU_ADMIN_ENTRIES];
    struct ppu_admin_msg reply[PPU_ADMIN_ENTRIES];
};
PPU_ASSERT_SIZE(struct ppu_admin_queue, 128 + 2 * 64 * PPU_ADMIN_ENTRIES);

#endif

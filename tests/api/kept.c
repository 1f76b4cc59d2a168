/* SPDX-License-Identifier: MIT */
/* Keeps a transport open while the tests open and close devices on it. */
#include "tests/api/kept.h"
#include "runtime/transport.h"

static const struct ppu_transport_ops *own_ops;
static struct ppu_transport_ops kept_ops;

static void stay_open(struct ppu_transport *transport)
{
    (void)transport;
}

void transport_keep(struct ppu_transport *transport)
{
    own_ops = transport->ops;
    kept_ops = *own_ops;
    kept_ops.close = stay_open;
    transport->ops = &kept_ops;
}

void transport_close_kept(struct ppu_transport *transport)
{
    if (transport) {
        own_ops->close(transport);
    }
}

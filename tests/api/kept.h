/* SPDX-License-Identifier: MIT */
/* Keeps a transport open while the tests open and close devices on it. */
#ifndef TESTS_API_KEPT_H
#define TESTS_API_KEPT_H

struct ppu_transport;

/* From now on closing a device leaves its transport open. There is one such transport at a time. */
void transport_keep(struct ppu_transport *transport);
/* NULL: nothing, for a machine that has not started. */
void transport_close_kept(struct ppu_transport *transport);

#endif

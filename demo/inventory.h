/* SPDX-License-Identifier: MIT */
/* Describes the machine as a user finds it before any driver of ours has run. */
#ifndef DEMO_INVENTORY_H
#define DEMO_INVENTORY_H

/* Prints what Linux knows of this machine and of its PPUs. */
void inventory_show(void);

#endif

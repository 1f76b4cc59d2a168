/* SPDX-License-Identifier: MIT */
/* Launches an empty kernel on a PPU that no queue has used yet, while the program builds its own kernels. */
#ifndef OPENCL_SUBMIT_WARM_UP_H
#define OPENCL_SUBMIT_WARM_UP_H

struct ppu_program;
struct submitter;

/*
 * Submits the launch and does not wait for it. Returns the kernel's program, which the submitter unloads after its
 * channel; NULL: the PPU needs none, or there is no room, which the program's own launches will say.
 */
struct ppu_program *warm_up(const struct submitter *submitter);

#endif

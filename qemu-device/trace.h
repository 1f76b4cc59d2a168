/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Includes what QEMU's build generates from trace-events. */
#include "trace/trace-hw_ppu.h"

/* SPDX-License-Identifier: MIT */
/* Stands for GLib's header in qemu-plugin.h, which names two of its types and looks into neither. */
#ifndef TOOLS_MCU_GLIB_GLIB_H
#define TOOLS_MCU_GLIB_GLIB_H

typedef struct mcu_array GArray;
typedef struct mcu_byte_array GByteArray;

#endif

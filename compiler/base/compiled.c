/* SPDX-License-Identifier: MIT */
#include "compiler/base/compiled.h"

#include <stdlib.h>

enum ppu_compile_status compile_finish(enum ppu_compile_status status, struct bytes *made, struct bytes *log,
                                       struct ppu_compiled *compiled)
{
    bytes_add_zeros(log, 1);
    if (made->lost || log->lost) {
        status = PPU_COMPILE_NO_MEMORY;
    }
    if (status != PPU_COMPILE_OK) {
        bytes_free(made);
    }
    compiled->bytes = made->at;
    compiled->len_bytes = made->len;
    compiled->log = log->lost ? NULL : (char *)log->at;
    if (!compiled->log) {
        bytes_free(log);
        compiled->log = calloc(1, 1);
    }
    return status;
}

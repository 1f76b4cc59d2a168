# SPDX-License-Identifier: MIT
# Shares registers between the parts of a wave, which only a device with sub-vector mode can do.
.kernel shared_parts
.param 8
.wave 128
.vregs 8
.shared_vregs 4
    exit

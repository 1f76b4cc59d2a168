# SPDX-License-Identifier: MIT
# Has a loop over parts that a part may leave before its end; ppu-as refuses it, so it is assembled unchecked.
.kernel wrong_loop
.wave 64
    svbegin s8, behind
head:
    nop
    yield
    svend s8, head
behind:
    exit

# SPDX-License-Identifier: MIT
FUZZ_OPTIONS_sockets := -max_len=1024 -len_control=0
# The target stands for the other end of the sockets, and for time.
FUZZ_SOCKETS_LIBS := ppu -pthread -lm -Wl,--wrap=send,--wrap=recv,--wrap=ppoll,--wrap=clock_gettime,--wrap=nanosleep
$(eval $(call ppu_fuzz,sockets,tests/fuzz/sockets.c tests/fuzz/input.c tests/joined/joined_image.c,-D_GNU_SOURCE -Iruntime/include,$(FUZZ_SOCKETS_LIBS)))

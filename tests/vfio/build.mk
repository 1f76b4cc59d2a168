# SPDX-License-Identifier: MIT
#
# What the vfio transport finds out about a machine, on made-up machines. The transport itself is tested in the guest.
# The kernel's structures end in arrays of any length; the made-up answers lay out what follows them.

CHECK_TESTS += vfio-%

$(eval $(call ppu_test,vfio-function,tests/vfio/test_function.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread))
$(eval $(call ppu_test,vfio-chain,tests/vfio/test_chain.c,-D_GNU_SOURCE -Wno-gnu-variable-sized-type-not-at-end -Iruntime/include,ppu -pthread))
$(eval $(call ppu_test,vfio-mailbox,tests/vfio/test_mailbox.c,-D_GNU_SOURCE -Iruntime/include,ppu -pthread,asan))

/* SPDX-License-Identifier: MIT */
/* pass: ir. The critical section stays in the loop, and the yield behind it. */
__kernel void k(__global volatile int *lock, __global int *count)
{
    int done = 0;

    while (!done) {
        if (atomic_cmpxchg(lock, 0, 1) == 0) {
            *count += 1;
            atomic_xchg(lock, 0);
            done = 1;
        }
    }
}
/* prints
  br label %3
3:                                                ; preds = %._crit_edge3, %2
  %4 = cmpxchg ptr addrspace(1) %0, i32 0, i32 1 seq_cst seq_cst, align 4
  %5 = extractvalue { i32, i1 } %4, 1
  br i1 %5, label %6, label %._crit_edge
._crit_edge:                                      ; preds = %3
  br label %10
6:                                                ; preds = %3
  %7 = load i32, ptr addrspace(1) %1, align 4
  %8 = add nsw i32 %7, 1
  store i32 %8, ptr addrspace(1) %1, align 4
  %9 = atomicrmw xchg ptr addrspace(1) %0, i32 0 seq_cst, align 4
  br label %10
10:                                               ; preds = %._crit_edge, %6
  tail call void @__ppu_yield()
  br i1 %5, label %11, label %._crit_edge3
._crit_edge3:                                     ; preds = %10
  br label %3
11:                                               ; preds = %10
  ret void
}
*/

/* SPDX-License-Identifier: MIT */
/* pass: ir. A loop without a known bound needs no yield where each turn passes a barrier of the work-group. */
__kernel void k(__global int *data, int n)
{
    int i = get_local_id(0);

    for (int step = 1; step < n; step *= 2) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        data[i] += step;
    }
}
/* prints
pick.exit:
  %2 = tail call i32 @__ppu_sr(i32 noundef 0) #3
  %3 = icmp sgt i32 %1, 1
  br i1 %3, label %.lr.ph, label %pick.exit.._crit_edge_crit_edge
pick.exit.._crit_edge_crit_edge:                  ; preds = %pick.exit
  br label %._crit_edge
.lr.ph:                                           ; preds = %pick.exit
  %4 = sext i32 %2 to i64
  %5 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %4
  br label %6
6:                                                ; preds = %._crit_edge14, %.lr.ph
  %.013 = phi i32 [ 1, %.lr.ph ], [ %9, %._crit_edge14 ]
  tail call void @__ppu_barrier() #4
  %7 = load i32, ptr addrspace(1) %5, align 4
  %8 = add nsw i32 %7, %.013
  store i32 %8, ptr addrspace(1) %5, align 4
  %9 = shl nsw i32 %.013, 1
  %10 = icmp slt i32 %9, %1
  br i1 %10, label %._crit_edge14, label %.._crit_edge_crit_edge
.._crit_edge_crit_edge:                           ; preds = %6
  br label %._crit_edge
._crit_edge14:                                    ; preds = %6
  br label %6
._crit_edge:                                      ; preds = %.._crit_edge_crit_edge, %pick.exit.._crit_edge_crit_edge
  ret void
}
*/

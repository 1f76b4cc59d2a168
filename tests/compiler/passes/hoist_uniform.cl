/* SPDX-License-Identifier: MIT */
/* pass: ir. The addresses of part[i] and of next[at + 1] are those of the whole warp, before the branches; that of the
 * store is not. */
__kernel void k(__local const int *part, __global int *out, __global const int *next, __global int *last, int n, int at)
{
    int lane = get_local_id(0), sum = 0;

    for (int i = 0; i < n; i++) {
        if (i < lane) {
            sum += part[i];
        }
    }
    out[lane] = sum;
    if (sum > n) {
        last[at] = next[at + 1];
    }
}
/* prints
pick.exit:
  %6 = tail call i32 @__ppu_sr(i32 noundef 0) #2
  %7 = icmp sgt i32 %4, 0
  br i1 %7, label %pick.exit..lr.ph_crit_edge, label %pick.exit.._crit_edge_crit_edge
pick.exit.._crit_edge_crit_edge:                  ; preds = %pick.exit
  br label %._crit_edge
pick.exit..lr.ph_crit_edge:                       ; preds = %pick.exit
  br label %.lr.ph
.lr.ph:                                           ; preds = %..lr.ph_crit_edge, %pick.exit..lr.ph_crit_edge
  %.027 = phi i32 [ %15, %..lr.ph_crit_edge ], [ 0, %pick.exit..lr.ph_crit_edge ]
  %.02426 = phi i32 [ %.1, %..lr.ph_crit_edge ], [ 0, %pick.exit..lr.ph_crit_edge ]
  %8 = icmp slt i32 %.027, %6
  %9 = zext nneg i32 %.027 to i64
  %10 = getelementptr inbounds i32, ptr addrspace(3) %0, i64 %9
  br i1 %8, label %11, label %.lr.ph._crit_edge
.lr.ph._crit_edge:                                ; preds = %.lr.ph
  br label %14
11:                                               ; preds = %.lr.ph
  %12 = load i32, ptr addrspace(3) %10, align 4
  %13 = add nsw i32 %12, %.02426
  br label %14
14:                                               ; preds = %.lr.ph._crit_edge, %11
  %.1 = phi i32 [ %13, %11 ], [ %.02426, %.lr.ph._crit_edge ]
  %15 = add nuw nsw i32 %.027, 1
  %exitcond.not = icmp eq i32 %15, %4
  br i1 %exitcond.not, label %.._crit_edge_crit_edge, label %..lr.ph_crit_edge
..lr.ph_crit_edge:                                ; preds = %14
  br label %.lr.ph
.._crit_edge_crit_edge:                           ; preds = %14
  br label %._crit_edge
._crit_edge:                                      ; preds = %.._crit_edge_crit_edge, %pick.exit.._crit_edge_crit_edge
  %.024.lcssa = phi i32 [ 0, %pick.exit.._crit_edge_crit_edge ], [ %.1, %.._crit_edge_crit_edge ]
  %16 = sext i32 %6 to i64
  %17 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %16
  store i32 %.024.lcssa, ptr addrspace(1) %17, align 4
  %18 = icmp sgt i32 %.024.lcssa, %4
  %19 = sext i32 %5 to i64
  %20 = getelementptr i32, ptr addrspace(1) %2, i64 %19
  br i1 %18, label %21, label %._crit_edge._crit_edge
._crit_edge._crit_edge:                           ; preds = %._crit_edge
  br label %25
21:                                               ; preds = %._crit_edge
  %22 = getelementptr i8, ptr addrspace(1) %20, i64 4
  %23 = load i32, ptr addrspace(1) %22, align 4
  %24 = getelementptr inbounds i32, ptr addrspace(1) %3, i64 %19
  store i32 %23, ptr addrspace(1) %24, align 4
  br label %25
25:                                               ; preds = %._crit_edge._crit_edge, %21
  ret void
}
*/

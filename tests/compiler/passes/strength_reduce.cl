/* SPDX-License-Identifier: MIT */
/* pass: ir. The address of a[row * n + i] becomes a pointer that moves on. */
__kernel void k(__global const float *a, __global float *out, int n)
{
    int row = get_global_id(0);
    float sum = 0;

    for (int i = 0; i < n; i++) {
        sum += a[i * n + row];
    }
    out[row] = sum;
}
/* prints
pick.exit2:
  %3 = tail call i32 @__ppu_sr(i32 noundef 3) #2
  %4 = tail call i32 @__ppu_sr(i32 noundef 6) #2
  %5 = mul i32 %4, %3
  %6 = tail call i32 @__ppu_launch(i32 noundef 0) #2
  %7 = add i32 %5, %6
  %8 = tail call i32 @__ppu_sr(i32 noundef 0) #2
  %9 = add i32 %7, %8
  %10 = icmp sgt i32 %2, 0
  br i1 %10, label %pick.exit2..lr.ph_crit_edge, label %pick.exit2.._crit_edge_crit_edge
pick.exit2.._crit_edge_crit_edge:                 ; preds = %pick.exit2
  br label %._crit_edge
pick.exit2..lr.ph_crit_edge:                      ; preds = %pick.exit2
  %11 = shl i32 %9, 2
  %12 = sext i32 %2 to i64
  br label %.lr.ph
.lr.ph:                                           ; preds = %.lr.ph..lr.ph_crit_edge, %pick.exit2..lr.ph_crit_edge
  %13 = phi ptr addrspace(1) [ %0, %pick.exit2..lr.ph_crit_edge ], [ %19, %.lr.ph..lr.ph_crit_edge ]
  %.052 = phi i32 [ %18, %.lr.ph..lr.ph_crit_edge ], [ 0, %pick.exit2..lr.ph_crit_edge ]
  %.04951 = phi float [ %17, %.lr.ph..lr.ph_crit_edge ], [ 0.000000e+00, %pick.exit2..lr.ph_crit_edge ]
  %14 = zext i32 %11 to i64
  %15 = getelementptr i8, ptr addrspace(1) %13, i64 %14
  %16 = load float, ptr addrspace(1) %15, align 4
  %17 = fadd float %.04951, %16
  %18 = add nuw nsw i32 %.052, 1
  %exitcond.not = icmp eq i32 %18, %2
  %19 = getelementptr float, ptr addrspace(1) %13, i64 %12
  br i1 %exitcond.not, label %.lr.ph.._crit_edge_crit_edge, label %.lr.ph..lr.ph_crit_edge
.lr.ph..lr.ph_crit_edge:                          ; preds = %.lr.ph
  br label %.lr.ph
.lr.ph.._crit_edge_crit_edge:                     ; preds = %.lr.ph
  br label %._crit_edge
._crit_edge:                                      ; preds = %.lr.ph.._crit_edge_crit_edge, %pick.exit2.._crit_edge_crit_edge
  %.049.lcssa = phi float [ 0.000000e+00, %pick.exit2.._crit_edge_crit_edge ], [ %17, %.lr.ph.._crit_edge_crit_edge ]
  %20 = sext i32 %9 to i64
  %21 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %20
  store float %.049.lcssa, ptr addrspace(1) %21, align 4
  ret void
}
*/

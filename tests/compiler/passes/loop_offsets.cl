/* SPDX-License-Identifier: MIT */
/* pass: ir. An unsigned index may wrap: the offset of each lane, 32 bits of it, moves on. Base of lanes and index of all change places. */
__kernel void k(__global const float *a, __global float *out, uint n)
{
    uint row = get_global_id(0);
    size_t column = get_global_id(1);
    float sum = 0;

    for (uint i = 0; i < n; i++) {
        sum += a[row * n + i] + out[i * n + column];
    }
    out[row] = sum;
}
/* prints
pick.exit5:
  %3 = tail call i32 @__ppu_sr(i32 noundef 3) #2
  %4 = tail call i32 @__ppu_sr(i32 noundef 6) #2
  %5 = mul i32 %4, %3
  %6 = tail call i32 @__ppu_launch(i32 noundef 0) #2
  %7 = add i32 %5, %6
  %8 = tail call i32 @__ppu_sr(i32 noundef 0) #2
  %9 = add i32 %7, %8
  %10 = tail call i32 @__ppu_sr(i32 noundef 4) #2
  %11 = tail call i32 @__ppu_sr(i32 noundef 7) #2
  %12 = tail call i32 @__ppu_launch(i32 noundef 8) #2
  %13 = tail call i32 @__ppu_launch(i32 noundef 12) #2
  %14 = tail call i32 @__ppu_sr(i32 noundef 1) #2
  %.not = icmp eq i32 %2, 0
  br i1 %.not, label %pick.exit5.._crit_edge_crit_edge, label %.lr.ph
pick.exit5.._crit_edge_crit_edge:                 ; preds = %pick.exit5
  br label %._crit_edge
.lr.ph:                                           ; preds = %pick.exit5
  %15 = zext i32 %13 to i64
  %16 = shl nuw i64 %15, 32
  %17 = zext i32 %12 to i64
  %18 = or disjoint i64 %16, %17
  %19 = zext i32 %11 to i64
  %20 = zext i32 %10 to i64
  %21 = mul nuw i64 %19, %20
  %22 = mul i32 %9, %2
  %23 = getelementptr float, ptr addrspace(1) %1, i64 %21
  %24 = getelementptr float, ptr addrspace(1) %23, i64 %18
  %25 = shl i32 %22, 2
  %26 = shl i32 %14, 2
  br label %27
27:                                               ; preds = %._crit_edge98, %.lr.ph
  %28 = phi i32 [ %25, %.lr.ph ], [ %41, %._crit_edge98 ]
  %.097 = phi i32 [ 0, %.lr.ph ], [ %40, %._crit_edge98 ]
  %.09496 = phi float [ 0.000000e+00, %.lr.ph ], [ %39, %._crit_edge98 ]
  %29 = zext i32 %28 to i64
  %30 = getelementptr i8, ptr addrspace(1) %0, i64 %29
  %31 = load float, ptr addrspace(1) %30, align 4
  %32 = mul i32 %.097, %2
  %33 = zext i32 %32 to i64
  %34 = getelementptr float, ptr addrspace(1) %24, i64 %33
  %35 = zext i32 %26 to i64
  %36 = getelementptr i8, ptr addrspace(1) %34, i64 %35
  %37 = load float, ptr addrspace(1) %36, align 4
  %38 = fadd float %31, %37
  %39 = fadd float %.09496, %38
  %40 = add nuw i32 %.097, 1
  %exitcond.not = icmp eq i32 %40, %2
  %41 = add i32 %28, 4
  br i1 %exitcond.not, label %.._crit_edge_crit_edge, label %._crit_edge98
._crit_edge98:                                    ; preds = %27
  br label %27
.._crit_edge_crit_edge:                           ; preds = %27
  br label %._crit_edge
._crit_edge:                                      ; preds = %.._crit_edge_crit_edge, %pick.exit5.._crit_edge_crit_edge
  %.094.lcssa = phi float [ 0.000000e+00, %pick.exit5.._crit_edge_crit_edge ], [ %39, %.._crit_edge_crit_edge ]
  %42 = zext i32 %9 to i64
  %43 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %42
  store float %.094.lcssa, ptr addrspace(1) %43, align 4
  ret void
}
*/

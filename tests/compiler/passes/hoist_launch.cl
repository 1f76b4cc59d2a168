/* SPDX-License-Identifier: MIT */
/* pass: ir. The step of the loop is the size of the grid, which is read once, where the kernel begins. */
__kernel void k(__global const int *in, __global int *out, int n)
{
    int sum = 0;

    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        sum += in[i];
    }
    out[get_group_id(0)] = sum;
}
/* prints
pick.exit.i:
  %3 = tail call i32 @__ppu_sr(i32 noundef 3) #3
  %4 = tail call i32 @__ppu_sr(i32 noundef 6) #3
  %5 = mul i32 %4, %3
  %6 = tail call i32 @__ppu_launch(i32 noundef 0) #3
  %7 = add i32 %5, %6
  %8 = tail call i32 @__ppu_sr(i32 noundef 0) #3
  %9 = add i32 %7, %8
  %10 = tail call i32 @__ppu_sr(i32 noundef 9) #3
  %11 = tail call i32 @__ppu_sr(i32 noundef 28) #3
  %12 = icmp slt i32 %9, %2
  br i1 %12, label %_Z14get_num_groupsj.exit.lr.ph, label %pick.exit.i.pick.exit_crit_edge
pick.exit.i.pick.exit_crit_edge:                  ; preds = %pick.exit.i
  %13 = zext i32 %3 to i64
  %14 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %13
  store i32 0, ptr addrspace(1) %14, align 4
  ret void
_Z14get_num_groupsj.exit.lr.ph:                   ; preds = %pick.exit.i
  %15 = add i32 %10, -1
  %16 = mul i32 %15, %4
  %17 = add i32 %16, %11
  br label %_Z14get_num_groupsj.exit
_Z14get_num_groupsj.exit:                         ; preds = %_Z14get_num_groupsj.exit._Z14get_num_groupsj.exit_crit_edge, %_Z14get_num_groupsj.exit.lr.ph
  %.081 = phi i32 [ %9, %_Z14get_num_groupsj.exit.lr.ph ], [ %22, %_Z14get_num_groupsj.exit._Z14get_num_groupsj.exit_crit_edge ]
  %.07980 = phi i32 [ 0, %_Z14get_num_groupsj.exit.lr.ph ], [ %21, %_Z14get_num_groupsj.exit._Z14get_num_groupsj.exit_crit_edge ]
  %18 = sext i32 %.081 to i64
  %19 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %18
  %20 = load i32, ptr addrspace(1) %19, align 4
  %21 = add nsw i32 %20, %.07980
  %22 = add i32 %17, %.081
  %23 = icmp slt i32 %22, %2
  call void @ppu_yield_every(i32 1024)
  br i1 %23, label %_Z14get_num_groupsj.exit._Z14get_num_groupsj.exit_crit_edge, label %_Z14get_num_groupsj.exit.pick.exit_crit_edge
_Z14get_num_groupsj.exit.pick.exit_crit_edge:     ; preds = %_Z14get_num_groupsj.exit
  br label %pick.exit
_Z14get_num_groupsj.exit._Z14get_num_groupsj.exit_crit_edge: ; preds = %_Z14get_num_groupsj.exit
  br label %_Z14get_num_groupsj.exit
pick.exit:                                        ; preds = %_Z14get_num_groupsj.exit.pick.exit_crit_edge
  %24 = zext i32 %3 to i64
  %25 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %24
  store i32 %21, ptr addrspace(1) %25, align 4
  ret void
}
*/

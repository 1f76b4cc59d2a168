/* SPDX-License-Identifier: MIT */
/* pass: ir. Local ids are below 64, so indexes that begin with them have no sign and do not wrap. */
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(__global int *data)
{
    __local int part[192];
    int l = get_local_id(0);

    for (int i = l; i < 192; i += 64) {
        part[i] = data[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[l] = part[191 - l];
}
/* prints
pick.exit:
  %1 = tail call i32 @__ppu_sr(i32 noundef 0) #3
  br label %2
2:                                                ; preds = %._crit_edge, %pick.exit
  %.016 = phi i32 [ %1, %pick.exit ], [ %7, %._crit_edge ]
  %3 = zext nneg i32 %.016 to i64
  %4 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %3
  %5 = load i32, ptr addrspace(1) %4, align 4
  %6 = getelementptr inbounds [192 x i32], ptr addrspace(3) @k.part, i64 0, i64 %3
  store i32 %5, ptr addrspace(3) %6, align 4
  %7 = add nuw nsw i32 %.016, 64
  %8 = icmp ult i32 %.016, 128
  br i1 %8, label %._crit_edge, label %9
._crit_edge:                                      ; preds = %2
  br label %2
9:                                                ; preds = %2
  tail call void @__ppu_barrier() #4
  %10 = sub nuw nsw i32 191, %1
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds [192 x i32], ptr addrspace(3) @k.part, i64 0, i64 %11
  %13 = load i32, ptr addrspace(3) %12, align 4
  %14 = zext nneg i32 %1 to i64
  %15 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %14
  store i32 %13, ptr addrspace(1) %15, align 4
  ret void
}
*/

/* SPDX-License-Identifier: MIT */
/* Is the kernel that the fuzz target of the debug adapter looks into. */
struct point {
    int x;
    float4 at;
    global struct point *next;
};

constant int table[4] = { 1, 2, 3, 4 };

int twice(int a)
{
    int b = a + a;
    return b;
}

kernel void work(global struct point *out, int n, local int *part)
{
    int i = get_global_id(0), l = get_local_id(0), row[3][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
    struct point own = { n, (float4)(1, 2, 3, 4), out };
    part[l] = twice(i) + table[i & 3];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; k++) {
        own.x += part[k] + row[k % 3][k & 1];
    }
    out[i] = own;
}

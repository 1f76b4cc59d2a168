/* SPDX-License-Identifier: MIT */
/* Kernels whose references to their arguments' memory are known: test_language.c has them. */

kernel void plain(global const int *a, global int *b, global int *c, int n)
{
    b[n] = a[n];
    c[n]++;
}

static int first(const int *p)
{
    return p[0];
}

kernel void through(global const int *a, global int *b, constant int *c, int n)
{
    global int *to = n > 3 ? b + 4 : b;

    for (int i = 0; i < n; i++, to += 2) {
        *to = first(a + i) + c[i & 3];
    }
}

kernel void together(global int *a, global int *b, local int *c, int n)
{
    global int *either = n > 3 ? a : b;

    atomic_inc(either);
    c[get_local_id(0)] = 5;
}

__attribute__((noinline)) void elsewhere(global int *p)
{
    p[1] = 2;
}

kernel void kept(global int *a, global int *b, global ulong *c, int n)
{
    c[n] += (ulong)a;
    elsewhere(b);
}

kernel void unused(global int *a, local int *b, constant int *c, int n)
{
}

/* Two elements of its own for each; of the last the neighbour's too. */
kernel void own(global const int *a, global int *b, global int *c, int n)
{
    size_t i = get_global_id(0);

    b[2 * i] = a[i];
    b[2 * i + 1] = n;
    c[i] = c[i + 1];
}

kernel void turns(global int *a, global const int *b, global const int *c, int n)
{
    int first = (int)get_global_id(0) * n;

    for (int i = 0; i < n; i++) {
        a[first + i] = c[b[i]];
    }
}

/* Numbers of work-items that are cut off, go backwards, or are not looked at. */
kernel void cut(global int *a, global short *b, global int *c, int n)
{
    uchar i = get_global_id(0);
    long k = get_global_id(0);

    a[i] = n;
    b[4 - 8 * k] = b[1 - 8 * k];
    c[-1] = c[2];
}

/* The neighbour's too, through what is chosen. */
kernel void chosen(global int *a, global int *b, global int *c, int n)
{
    size_t i = get_global_id(0);
    global int *either = n > 3 ? a : b;

    a[i] = n;
    b[i] = n;
    either[i + 1] = n;
    c[i + n] = n;
}

/* Other numbers than the first. */
kernel void rows(global int *a, global int *b, global int *c, int n)
{
    size_t i = get_global_id(0), j = get_global_id(1);

    a[j] = n;
    b[(int)i + 64 * (int)j] = n;
    c[get_group_id(0) * get_local_size(0) + get_local_id(0)] = n;
}

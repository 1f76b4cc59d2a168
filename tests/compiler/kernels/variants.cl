/* SPDX-License-Identifier: MIT */
/*
 * Defines kernels that are compiled for facts about their launches: tests/compiler/test_variants.c says what each is
 * about.
 */

/* A machine of states: the source has a branch with many targets. */
kernel void states(global const uint *in, global uint *out, int n)
{
    int i = get_global_id(0);
    uint state = 0, sum = 0;

    for (int k = 0; k < n; k++) {
        switch (in[i * n + k] & 7) {
        case 0:
            state++;
            break;
        case 1:
            sum += state;
            break;
        case 2:
            sum ^= k;
            break;
        case 5:
            state = in[i * n + k] >> 3;
            break;
        default:
            sum = sum * 3 + state;
        }
    }
    out[i] = sum;
}

/* Collatz's sequence, with two ways into its loop. */
kernel void entries(global const uint *in, global uint *out, int n)
{
    int i = get_global_id(0);
    uint x = in[i] % (uint)n + 1, turns = 0;

    if (in[i] & 64) {
        goto odd;
    }
    while (x > 1) {
        if ((x & 1) == 0) {
            x /= 2;
        } else {
        odd:
            x = 3 * x + 1;
        }
        turns++;
    }
    out[i] = turns;
}

/* The same as a loop whose middle branches to both ways in. */
kernel void ways(global const uint *in, global uint *out, int n)
{
    int i = get_global_id(0);
    uint x = in[i] % (uint)n + 1, turns = 0;

    if (x & 1) {
        goto odd;
    }
even:
    x /= 2;
    turns++;
    if (x & 1) {
        goto odd;
    }
    goto even;
odd:
    if (x > 1) {
        x = 3 * x + 1;
        turns++;
        goto even;
    }
    out[i] = turns;
}

/* Rows of different lengths. */
kernel void rows(global const uint *first, global const uint *in, global uint *out, int n)
{
    int i = get_global_id(0);
    uint sum = 0;

    for (uint k = first[i]; k < first[i + 1]; k++) {
        sum += in[k] * (k + 1);
    }
    out[i] = sum + n;
}

/* Rows of one length, where not all work-items have one: they turn together all the same. */
kernel void guarded(global const uint *in, global uint *out, int n)
{
    int i = get_global_id(0);

    if ((i & 3) != 1) {
        uint sum = i;
        for (int k = i * n; k < i * n + n; k++) {
            sum = sum * 5 + in[k];
        }
        out[i] = sum;
    }
    out[i] ^= 3;
}

/* A counter of 64 bits whose last turn is at its limit. */
kernel void inclusive(global const uint *in, global uint *out, int n)
{
    size_t i = get_global_id(0);
    uint sum = 0;

    if (i != 0 && i + 1 != get_global_size(0)) {
        for (size_t k = i - 1; k <= i + 1; k++) {
            sum = sum * 5 + in[k];
        }
    }
    out[i] = sum;
}

/* A long loop in which all threads wait for each other. */
kernel void meets(global const uint *in, global uint *out, int n)
{
    local uint part[2][64];
    int i = get_local_id(0);

    part[0][i] = in[get_global_id(0)];
    part[1][i] = 0;
    for (int k = 0; k < 301; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        part[~k & 1][i] = part[k & 1][(i + 1) % 64] * 5 + k;
    }
    out[get_global_id(0)] = part[1][i];
}

/* Indexes that wrap, as those of unsigned numbers may: one reaches below the first, from an argument in the middle. */
kernel void wraps(global const uint *in, global uint *out, uint n)
{
    uint i = get_global_id(0), sum = 0;

    for (uint k = 0; k < n; k++) {
        uint at = (i + k - 4294967280u) & 1023;
        sum = sum * 7 + in[at] + in[(uint)(at + 4294967295u) & 1023] + in[i + k + 3] - in[i + k + 2];
    }
    out[i] = sum;
}

/* Indexes below 0, some of them only where a condition lets them be used. */
kernel void below(global const int *in, global int *out, int n)
{
    int i = get_global_id(0), sum = 0;

    for (int k = 0; k < n; k++) {
        int at = i - k;
        if (at + 2147483640 > 0 && at >= 3) {
            sum += in[at - 3] * 3;
        }
        if (at >= 0) {
            sum ^= in[at];
        }
        sum += in[i * 4 + k] + in[i * 4 + k + 1] - in[i * 4 + k + 5];
    }
    out[i] = sum;
}

/* All that a launch's shape may tell: rows, sizes and numbers of groups, comparisons of ids in every form. */
kernel void shape(global const uint *in, global uint *out, int w, int h, long d)
{
    int x = get_global_id(0), y = get_global_id(1);
    uint row = in[y], found = 0;

    found |= x < w ? 1 : 0;
    found |= y >= h ? 2 : 0;
    found |= w > x ? 4 : 0;
    found |= (uint)h <= (uint)y ? 8 : 0;
    found |= get_global_id(0) < (size_t)d ? 16 : 0;
    found |= (long)x < d ? 32 : 0;
    found |= d != y ? 64 : 0;
    found |= w == x ? 128 : 0;
    found |= get_group_id(1) * get_local_size(1) < (size_t)h ? 256 : 0;
    found |= (uchar)x < w ? 512 : 0;
    found |= (char)x < w ? 1024 : 0;
    found |= x - 1 < w ? 2048 : 0;
    found |= x + 1 < w ? 4096 : 0;
    found |= get_local_id(0) >= (size_t)w ? 8192 : 0;
    for (int k = 0; k < 8; k++) {
        row = row * 3 + in[y * 8 + k];
    }
    for (uint k = get_local_size(0); k > 1; k /= 2) {
        row ^= k * 77;
    }
    out[y * 512 + x] = found + row * 16384 + get_local_id(1) * get_local_size(0) + get_local_id(0);
}

/* Every lane leaves at another turn, with something to do on its way, from within other branches and loops. */
kernel void leave(global const uint *in, global uint *out, int n)
{
    int i = get_global_id(0);
    uint sum = in[i];

    for (int a = 0; a < (i & 1) + 1; a++) {
        if (((i + a) & 127) != 5) {
            for (int b = 0; b < (i & 3) + 1; b++) {
                if (((i + b) & 127) != 9) {
                    float x = 0;
                    for (int k = 0; k < 200; k++) {
                        x += 1.0f;
                        if (x > (float)((i & 127) + b)) {
                            out[i] ^= sum + k;
                            sum *= 5;
                            break;
                        }
                        sum += k ^ a;
                    }
                    out[i] += sum;
                }
                sum ^= b;
            }
        }
        sum += a;
    }
    out[i] += sum;
}

/* A vector of three lies in memory as one of four, the last element of which has no value. */
kernel void threes(global const char3 *in, global uint *out, int n)
{
    local char3 kept[64];
    int i = get_global_id(0), at = get_local_id(0);

    kept[at] = in[3 * i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = as_uint((char4)(kept[63 - at], n));
}

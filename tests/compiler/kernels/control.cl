/* SPDX-License-Identifier: MIT */
/* Lets lanes part in many ways by flow of control. */

/* Both sides of a branch in a loop, one of them with work and a break. */
__kernel void work_and_break(__global int *out)
{
    int t = get_global_id(0), sum = 0;

    for (int i = 0; i < 40; i++) {
        if (i * 7 % 11 == t % 11 && i > 3) {
            sum += 1000 * t;
            break;
        }
        if (i % 3 == t % 3) {
            sum += i;
        } else {
            sum ^= 2 * i + 1;
        }
    }
    out[t] = sum;
}

/* Loops in loops, left by breaks, continues and returns. */
__kernel void nested(__global int *out, int limit)
{
    int t = get_global_id(0), sum = 0;

    out[t] = -1;
    for (int i = 0; i < limit; i++) {
        for (int j = 0; j < t % 5 + i; j++) {
            if ((i + j) % 4 == t % 4) {
                continue;
            }
            if (j == 6) {
                break;
            }
            if (i * j == 63 + t % 7) {
                out[t] = sum + 7777;
                return;
            }
            sum += i * 10 + j;
        }
        if (sum > 3000 + 100 * (t % 9)) {
            break;
        }
    }
    out[t] = sum;
}

__kernel void switches(__global int *out)
{
    int t = get_global_id(0), v = t;

    for (int i = 0; i < 5; i++) {
        switch ((v + i) % 7) {
        case 0:
            v += 3;
            break;
        case 1:
            v *= 2; /* falls through */
        case 2:
            v ^= 5;
            break;
        case 5:
            v -= 9;
            continue;
        default:
            v += i;
        }
        v = v & 0xffff;
    }
    out[t] = v;
}

/* Goto into and out of what would be a loop's body. */
__kernel void gotos(__global int *out)
{
    int t = get_global_id(0), v = t, n = 0;

    if (t % 3 == 0) {
        goto middle;
    }
top:
    v = v * 3 + 1;
    if (v % 5 == 0) {
        goto end;
    }
middle:
    v ^= n;
    n++;
    if (n < t % 13) {
        goto top;
    }
    if (n < 9 && v % 2 == 0) {
        goto middle;
    }
end:
    out[t] = v + 100000 * n;
}

/* A uniform loop around one whose turns differ: values before, in and behind it. */
__kernel void uniform_around(__global int *out, int turns)
{
    int t = get_global_id(0), sum = 0, scale = 3;

    for (int i = 0; i < turns; i++) {
        int x = t + i;
        while (x > 1) {
            x = x % 2 == 0 ? x / 2 : 3 * x + 1;
            sum += scale;
        }
        scale = scale * 5 % 17;
    }
    out[t] = sum + scale * 1000000;
}

/* Returns early in some lanes, shared memory and barriers for all. */
__kernel void barriers(__global int *out, __local int *tile)
{
    int l = get_local_id(0), n = get_local_size(0), v = get_global_id(0);

    for (int i = 0; i < 4; i++) {
        tile[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = v + tile[(l + i + 1) % n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = v;
}

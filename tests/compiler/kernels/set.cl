/* SPDX-License-Identifier: MIT */
/*
 * Defines the second set of kernels that are compared with another compiler: stencils, sorts, scans and others that
 * programs are made of. tests/bench/set.c has their data. Nothing in them is rounded in more than one way, so that
 * outputs are equal to the bit.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* ---- stencils ---- */

__kernel void stencil5(__global const float *in, __global float *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        int i = y * width + x;
        out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
    }
}

__kernel void stencil5_f64(__global const double *in, __global double *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        int i = y * width + x;
        out[i] = 0.5 * in[i] + 0.125 * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
    }
}

/* Indexes of 64 bits without a sign. */
__kernel void stencil9(__global const float *in, __global float *out, uint width, uint height)
{
    size_t x = get_global_id(0), y = get_global_id(1);

    if (x >= width || y >= height) {
        return;
    }
    if (x == 0 || y == 0 || x + 1 == width || y + 1 == height) {
        out[y * width + x] = in[y * width + x];
        return;
    }
    float sum = 0;
    for (size_t j = y - 1; j <= y + 1; j++) {
        for (size_t i = x - 1; i <= x + 1; i++) {
            sum += in[j * width + i];
        }
    }
    out[y * width + x] = sum * 0.125f;
}

__kernel void stencil7(__global const float *in, __global float *out, int width, int height, int depth)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int row = width, plane = width * height, i = z * plane + y * row + x;

    if (x < 1 || y < 1 || z < 1 || x >= width - 1 || y >= height - 1 || z >= depth - 1) {
        return;
    }
    out[i] = in[i - plane] + in[i + plane] + in[i - row] + in[i + row] + in[i - 1] + in[i + 1] - 6.0f * in[i];
}

/* Two to each side in each of the dimensions would be 13; this has the corners of the plane: 9 in 3-D. */
__kernel void stencil9_volume(__global const float *in, __global float *out, int width, int height, int depth)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);

    if (x >= width || y >= height || z >= depth) {
        return;
    }
    float sum = 0;
    for (int k = -1; k <= 1; k += 2) {
        for (int j = -1; j <= 1; j += 2) {
            for (int i = -1; i <= 1; i += 2) {
                int nx = x + i, ny = y + j, nz = z + k;
                if (nx >= 0 && nx < width && ny >= 0 && ny < height && nz >= 0 && nz < depth) {
                    sum += in[(nz * height + ny) * width + nx];
                }
            }
        }
    }
    out[(z * height + y) * width + x] = 0.0625f * sum + 0.5f * in[(z * height + y) * width + x];
}

/* Beyond the border lie the pixels of the border. */
__kernel void convolve3(__global const float *in, __constant float *weights, __global float *out, int width,
                        int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;

    if (x >= width || y >= height) {
        return;
    }
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) {
            sum += weights[j * 3 + i] * in[clamp(y + j - 1, 0, height - 1) * width + clamp(x + i - 1, 0, width - 1)];
        }
    }
    out[y * width + x] = sum;
}

__kernel void life(__global const uchar *in, __global uchar *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) {
        return;
    }
    __global const uchar *at = in + y * width + x;
    int around = at[-width - 1] + at[-width] + at[-width + 1] + at[-1] + at[1] + at[width - 1] + at[width] +
                 at[width + 1];
    out[y * width + x] = around == 3 || (around == 2 && at[0] != 0);
}

/* A row of pixels of four bytes each, the mean of five. */
__kernel void blur(__global const uchar4 *in, __global uchar4 *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    int4 sum = 0;

    if (x >= width || y >= height) {
        return;
    }
    for (int i = -2; i <= 2; i++) {
        sum += convert_int4(in[y * width + min(max(x + i, 0), width - 1)]);
    }
    out[y * width + x] = convert_uchar4(sum / 5);
}

/* ---- matrices ---- */

#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void transpose(__global const float *in,
                                                                              __global float *out, int width,
                                                                              int height)
{
    __local float tile[TILE][TILE + 1];
    int lx = get_local_id(0), ly = get_local_id(1), bx = get_group_id(0) * TILE, by = get_group_id(1) * TILE;

    if (bx + lx < width && by + ly < height) {
        tile[ly][lx] = in[(by + ly) * width + bx + lx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (by + lx < height && bx + ly < width) {
        out[(bx + ly) * height + by + lx] = tile[lx][ly];
    }
}

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void tiled_product(__global const float *a,
                                                                                  __global const float *b,
                                                                                  __global float *c, int n)
{
    __local float ta[TILE][TILE], tb[TILE][TILE];
    int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float sum = 0;

    for (int t = 0; t < n; t += TILE) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) {
            sum += ta[ly][k] * tb[k][lx];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

__kernel void product_f64(__global const double *a, __global const double *b, __global double *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    double sum = 0;

    for (int k = 0; k < n; k++) {
        sum += a[y * n + k] * b[k * n + x];
    }
    c[y * n + x] = sum;
}

/* What is left of a matrix after column `step` is eliminated; the factors stay in that column. */
__kernel void lu_factors(__global float *a, int n, int step)
{
    int y = get_global_id(0);

    if (y > step && y < n) {
        a[y * n + step] /= a[step * n + step];
    }
}

__kernel void lu_update(__global float *a, int n, int step)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x > step && y > step && x < n && y < n) {
        a[y * n + x] -= a[y * n + step] * a[step * n + x];
    }
}

__kernel void shortest_paths(__global int *d, int n, int step)
{
    int x = get_global_id(0), y = get_global_id(1);

    if (x < n && y < n) {
        d[y * n + x] = min(d[y * n + x], d[y * n + step] + d[step * n + x]);
    }
}

__kernel void sparse(__global const int *first, __global const int *column, __global const float *value,
                     __global const float *x, __global float *y, int rows)
{
    int row = get_global_id(0);

    if (row < rows) {
        float sum = 0;
        for (int i = first[row]; i < first[row + 1]; i++) {
            sum += value[i] * x[column[i]];
        }
        y[row] = sum;
    }
}

/* ---- reductions, scans, sorts ---- */

#define GROUP 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce(__global const int *in, __global int *out,
                                                                         int n)
{
    __local int part[GROUP];
    int l = get_local_id(0), sum = 0;

    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        sum += in[i];
    }
    part[l] = sum;
    for (int middle = GROUP / 2; middle > 0; middle /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < middle) {
            part[l] += part[l + middle];
        }
    }
    if (l == 0) {
        out[get_group_id(0)] = part[0];
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan(__global const int *in, __global int *out,
                                                                       __global int *sums)
{
    __local int part[2][GROUP];
    int l = get_local_id(0), from = 0;

    part[0][l] = in[get_global_id(0)];
    for (int apart = 1; apart < GROUP; apart *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        part[1 - from][l] = part[from][l] + (l >= apart ? part[from][l - apart] : 0);
        from = 1 - from;
    }
    out[get_global_id(0)] = part[from][l];
    if (l == GROUP - 1) {
        sums[get_group_id(0)] = part[from][l];
    }
}

/* Each group sorts its part in shared memory. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void bitonic(__global int *keys)
{
    __local int part[2 * GROUP];
    int l = get_local_id(0), first = get_group_id(0) * 2 * GROUP;

    part[l] = keys[first + l];
    part[l + GROUP] = keys[first + l + GROUP];
    for (int run = 2; run <= 2 * GROUP; run *= 2) {
        for (int apart = run / 2; apart > 0; apart /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int low = 2 * l - (l & (apart - 1)), high = low + apart;
            int a = part[low], b = part[high];
            if ((a > b) == ((low & run) == 0)) {
                part[low] = b;
                part[high] = a;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[first + l] = part[l];
    keys[first + l + GROUP] = part[l + GROUP];
}

#define DIGITS 16

/* Counts of digit `step` of each group's keys, [digit][group]. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void radix_count(__global const uint *keys,
                                                                              __global uint *counts,
                                                                              __global uint *out, int groups, int step)
{
    __local uint count[DIGITS];
    int l = get_local_id(0);

    if (l < DIGITS) {
        count[l] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&count[keys[get_global_id(0)] >> 4 * step & DIGITS - 1]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < DIGITS) {
        counts[l * groups + get_group_id(0)] = count[l];
    }
}

/* Says where each group's keys of each digit begin. It is one group. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void radix_scan(__global const uint *keys,
                                                                             __global uint *counts,
                                                                             __global uint *out, int groups, int step)
{
    __local uint sums[GROUP];
    int l = get_local_id(0), each = groups * DIGITS / GROUP;
    uint sum = 0, before = 0;

    for (int i = 0; i < each; i++) {
        sum += counts[l * each + i];
    }
    sums[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < l; i++) {
        before += sums[i];
    }
    for (int i = 0; i < each; i++) {
        uint count = counts[l * each + i];
        counts[l * each + i] = before;
        before += count;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void radix_scatter(__global const uint *keys,
                                                                                __global uint *counts,
                                                                                __global uint *out, int groups, int step)
{
    __local uint digits[GROUP];
    int l = get_local_id(0);
    uint key = keys[get_global_id(0)], digit = key >> 4 * step & DIGITS - 1, before = 0;

    digits[l] = digit;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < GROUP; i++) {
        before += i < l && digits[i] == digit;
    }
    out[counts[digit * groups + get_group_id(0)] + before] = key;
}

/* ---- numbers ---- */

/* Transforms of 256 points each; the twiddles are a table. */
__kernel __attribute__((reqd_work_group_size(GROUP / 2, 1, 1))) void fourier(__global float2 *data,
                                                                              __global const float2 *twiddle)
{
    __local float2 part[GROUP];
    int l = get_local_id(0), first = get_group_id(0) * GROUP;

    for (int i = l; i < GROUP; i += GROUP / 2) {
        int reversed = 0;
        for (int bit = 0; bit < 8; bit++) {
            reversed |= (i >> bit & 1) << (7 - bit);
        }
        part[reversed] = data[first + i];
    }
    for (int middle = 1; middle < GROUP; middle *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int k = l & (middle - 1), low = 2 * (l - k) + k;
        float2 w = twiddle[k * (GROUP / 2 / middle)], a = part[low], b = part[low + middle];
        float2 product = (float2)(w.x * b.x - w.y * b.y, w.x * b.y + w.y * b.x);
        part[low] = a + product;
        part[low + middle] = a - product;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[first + l] = part[l];
    data[first + l + GROUP / 2] = part[l + GROUP / 2];
}

/* Forces fall with the third power of the distance, softened. */
__kernel void bodies(__global const float4 *body, __global float4 *force, int n)
{
    int i = get_global_id(0);
    float4 me = body[i];
    float fx = 0, fy = 0, fz = 0;

    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float square = dx * dx + dy * dy + dz * dz + 0.01f;
        float near = other.w / (square * square);
        fx += dx * near;
        fy += dy * near;
        fz += dz * near;
    }
    force[i] = (float4)(fx, fy, fz, 0);
}

__kernel void bodies_f64(__global const double4 *body, __global double4 *force, int n)
{
    int i = get_global_id(0);
    double4 me = body[i];
    double fx = 0, fy = 0, fz = 0;

    for (int j = 0; j < n; j++) {
        double4 other = body[j];
        double dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        double square = dx * dx + dy * dy + dz * dz + 0.01;
        double near = other.w / (square * square);
        fx += dx * near;
        fy += dy * near;
        fz += dz * near;
    }
    force[i] = (double4)(fx, fy, fz, 0);
}

__kernel void clusters(__global const float *points, __global const float *centers, __global int *nearest, int n,
                       int count, int dimensions)
{
    int i = get_global_id(0), best = 0;
    float least = INFINITY;

    if (i >= n) {
        return;
    }
    for (int c = 0; c < count; c++) {
        float square = 0;
        for (int d = 0; d < dimensions; d++) {
            float apart = points[d * n + i] - centers[c * dimensions + d];
            square += apart * apart;
        }
        if (square < least) {
            least = square;
            best = c;
        }
    }
    nearest[i] = best;
}

/* A sphere over a plane that has waves of other spheres: steps of a ray until it is near. */
__kernel void march(__global float *out, int width, int height)
{
    int px = get_global_id(0), py = get_global_id(1);
    float dx = (px - width / 2) / (float)width, dy = (py - height / 2) / (float)width, t = 0;
    float length = sqrt(dx * dx + dy * dy + 1.0f), x, y, z;

    if (px >= width || py >= height) {
        return;
    }
    dx /= length;
    dy /= length;
    for (int i = 0; i < 64; i++) {
        x = dx * t;
        y = dy * t;
        z = t / length - 4.0f;
        float cell = x - floor(x) - 0.5f, near = sqrt(x * x + y * y + z * z) - 1.0f;
        float dots = sqrt(cell * cell + (y + 1.0f) * (y + 1.0f) + (z - 2.0f) * (z - 2.0f)) - 0.25f;
        near = min(near, min(dots, y + 1.5f));
        if (near < 0.001f || t > 20.0f) {
            break;
        }
        t += near;
    }
    out[py * width + px] = t;
}

__kernel void julia_f64(__global int *out, int width, int height)
{
    int px = get_global_id(0), py = get_global_id(1), turns = 0;

    if (px >= width || py >= height) {
        return;
    }
    double x = 3.0 * px / width - 1.5, y = 3.0 * py / height - 1.5;
    while (turns < 100 && x * x + y * y <= 4.0) {
        double next = x * x - y * y - 0.8;
        y = 2.0 * x * y + 0.156;
        x = next;
        turns++;
    }
    out[py * width + px] = turns;
}

/* Points in a quarter of a circle, by a generator of each thread. */
__kernel void dice(__global uint *hits, int throws)
{
    uint state = get_global_id(0) * 2654435761u + 1, count = 0;

    for (int i = 0; i < throws; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        uint x = state & 0xffff, y = state >> 16;
        count += x * x + y * y < 0xfffe0001u && x * x <= 0xffffffffu - y * y;
    }
    hits[get_global_id(0)] = count;
}

/* ---- texts and tables ---- */

__kernel void checksum(__global const uint *words, __global uint *out, int count, int n)
{
    int i = get_global_id(0);
    uint crc = 0xffffffffu;

    for (int k = 0; k < count; k++) {
        crc ^= words[k * n + i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
        }
    }
    out[i] = ~crc;
}

/* Distance of edits of pairs of texts, by anti-diagonals: one group a pair, one thread a letter. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void edits(__global const uchar *a,
                                                                        __global const uchar *b, __global int *out)
{
    __local int diagonal[3][GROUP + 1];
    __local uchar letters[GROUP];
    int l = get_local_id(0), pair = get_group_id(0), now = 0;
    uchar mine = a[pair * GROUP + l];

    letters[l] = b[pair * GROUP + l];
    for (int d = 0; d <= 2 * GROUP; d++) {
        int i = l + 1, j = d - i, before = (now + 2) % 3, last = (now + 1) % 3;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0 && d <= GROUP) {
            diagonal[now][0] = d;
        }
        if (j == 0) {
            diagonal[now][i] = d;
        } else if (j > 0 && j <= GROUP) {
            int same = diagonal[last][i - 1] + (mine != letters[j - 1]);
            diagonal[now][i] = min(same, 1 + min(diagonal[before][i], diagonal[before][i - 1]));
        }
        now = last;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == GROUP - 1) {
        out[pair] = diagonal[(now + 2) % 3][GROUP];
    }
}

/* Sums and counts of keys in a table, each place with a lock of its own. */
__kernel void locked_table(__global const uint *keys, __global int *locks, __global uint *sums, __global uint *counts,
                           int places)
{
    uint key = keys[get_global_id(0)], place = key * 2654435761u % (uint)places;
    int done = 0;

    while (!done) {
        if (atomic_cmpxchg(&locks[place], 0, 1) == 0) {
            volatile __global uint *sum = &sums[place], *count = &counts[place];
            *sum += key;
            *count += 1;
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            atomic_xchg(&locks[place], 0);
            done = 1;
        }
    }
}

/* Finds keys in a table with open addresses that the host has filled; 0 is an empty place. */
__kernel void lookup(__global const uint *keys, __global const uint *table, __global int *found, uint mask)
{
    int i = get_global_id(0);
    uint key = keys[i], place = key * 2654435761u & mask;

    while (table[place] != 0 && table[place] != key) {
        place = place + 1 & mask;
    }
    found[i] = table[place] == key ? (int)place : -1;
}

__kernel void find(__global const uchar *text, __global const uchar *pattern, __global uint *matches, int n,
                   int length)
{
    int i = get_global_id(0), k = 0;

    if (i + length > n) {
        return;
    }
    while (k < length && text[i + k] == pattern[k]) {
        k++;
    }
    if (k == length) {
        atomic_inc(matches);
    }
}

__kernel void permute(__global const float *in, __global const int *from, __global float *out)
{
    int i = get_global_id(0);

    out[i] = in[from[i]];
}

__kernel void gray(__global const uchar *in, __global uchar *out)
{
    int i = get_global_id(0);

    out[i] = (77 * in[3 * i] + 151 * in[3 * i + 1] + 28 * in[3 * i + 2]) >> 8;
}

__kernel void wide(__global const float16 *a, __global const float16 *b, __global float16 *out)
{
    int i = get_global_id(0);

    out[i] = 0.5f * a[i] + b[i];
}

__kernel void insertion(__global const float *in, __global float *out)
{
    int i = get_global_id(0);
    float sorted[8];

    for (int k = 0; k < 8; k++) {
        float value = in[8 * i + k];
        int at = k;
        for (; at > 0 && sorted[at - 1] > value; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = value;
    }
    for (int k = 0; k < 8; k++) {
        out[8 * i + k] = sorted[k];
    }
}

float normal(float x)
{
    return 0.5f * erfc(-0.70710678f * x);
}

/* What European options are worth (Black and Scholes), with a year to go. */
__kernel void options(__global const float *price, __global const float *strike, __global float *calls,
                      __global float *puts)
{
    const float rate = 0.02f, volatility = 0.3f;
    int i = get_global_id(0);
    float now = price[i], later = strike[i] * exp(-rate);
    float d = (log(now / strike[i]) + rate) / volatility + 0.5f * volatility;
    float call = now * normal(d) - later * normal(d - volatility);

    calls[i] = call;
    puts[i] = call + later - now;
}

__kernel void waves(__global const float *in, __global float *out)
{
    int i = get_global_id(0);
    float x = in[i];

    out[i] = sin(x) * cos(0.5f * x);
}

__kernel void correct(__global const float4 *in, __global float4 *out)
{
    int i = get_global_id(0);
    float4 colour = in[i];

    out[i] = pow(colour, 1 / 2.2f);
}

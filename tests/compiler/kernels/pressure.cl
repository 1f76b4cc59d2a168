/* SPDX-License-Identifier: MIT */
/* Defines kernels that need many registers (D9). What they compute: tests/compiler/pressure.c. */

/* ---- c = a * b, a tile of 8 by 8 each work-item ---- */

__kernel void tile_matmul(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
                          uint n)
{
    const uint row = get_global_id(1) * 8, column = get_global_id(0) * 8;
    float8 sum[8] = { 0 };

    for (uint k = 0; k < n; k += 4) {
        float4 left[8];
        for (uint i = 0; i < 8; i++) {
            left[i] = vload4(0, a + (row + i) * n + k);
        }
        for (uint j = 0; j < 4; j++) {
            const float8 right = vload8(0, b + (k + j) * n + column);
            for (uint i = 0; i < 8; i++) {
                sum[i] = fma((float8)(left[i][j]), right, sum[i]);
            }
        }
    }
    for (uint i = 0; i < 8; i++) {
        vstore8(sum[i], 0, c + (row + i) * n + column);
    }
}

/* ---- Fourier transform of 256 complex numbers by 16 work-items ---- */

#define COS8 0.92387953251128674f
#define SIN8 0.38268343236508977f
#define HALF 0.70710678118654752f

static float2 times(float2 x, float2 y)
{
    return (float2)(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

static float2 quarter(float2 x) /* times -i */
{
    return (float2)(x.y, -x.x);
}

static void transform4(float2 *a, float2 *b, float2 *c, float2 *d)
{
    const float2 even = *a + *c, odd = *b + *d, even_less = *a - *c, odd_less = quarter(*b - *d);

    *a = even + odd;
    *b = even_less + odd_less;
    *c = even - odd;
    *d = even_less - odd_less;
}

static void transform16(float2 x[16])
{
    float2 y[16];

#pragma unroll
    for (uint i = 0; i < 4; i++) {
        transform4(&x[i], &x[i + 4], &x[i + 8], &x[i + 12]);
    }
    x[5] = times(x[5], (float2)(COS8, -SIN8));
    x[6] = times(x[6], (float2)(HALF, -HALF));
    x[7] = times(x[7], (float2)(SIN8, -COS8));
    x[9] = times(x[9], (float2)(HALF, -HALF));
    x[10] = quarter(x[10]);
    x[11] = times(x[11], (float2)(-HALF, -HALF));
    x[13] = times(x[13], (float2)(SIN8, -COS8));
    x[14] = times(x[14], (float2)(-HALF, -HALF));
    x[15] = times(x[15], (float2)(-COS8, SIN8));
#pragma unroll
    for (uint j = 0; j < 4; j++) {
        transform4(&x[4 * j], &x[4 * j + 1], &x[4 * j + 2], &x[4 * j + 3]);
    }
#pragma unroll
    for (uint i = 0; i < 16; i++) {
        y[i] = x[i / 4 + i % 4 * 4];
    }
#pragma unroll
    for (uint i = 0; i < 16; i++) {
        x[i] = y[i];
    }
}

__kernel void fourier256(__global const float2 *restrict in, __global float2 *restrict out, __global const float2 *restrict turns)
{
    __local float2 exchange[4][256];
    const uint id = get_local_id(0), at = id % 16, group = get_global_id(0) / 16;
    __local float2 *mine = exchange[id / 16 % 4];
    float2 x[16];

    in += group * 256 + at;
    out += group * 256 + at;
#pragma unroll
    for (uint i = 0; i < 16; i++) {
        x[i] = in[16 * i];
    }
    transform16(x);
#pragma unroll
    for (uint i = 0; i < 16; i++) {
        mine[at * 16 + i] = times(x[i], turns[at * i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint i = 0; i < 16; i++) {
        x[i] = mine[at + 16 * i];
    }
    transform16(x);
#pragma unroll
    for (uint i = 0; i < 16; i++) {
        out[16 * i] = x[i];
    }
}

/* ---- forces between bodies: 6 each work-item ---- */

#define BODIES 6

__kernel void bodies(__global const float4 *restrict position, __global float4 *restrict force, uint n)
{
    const uint first = get_global_id(0) * BODIES;
    float3 mine[BODIES], sum[BODIES];

    for (uint i = 0; i < BODIES; i++) {
        mine[i] = position[first + i].xyz;
        sum[i] = (float3)(0);
    }
    for (uint j = 0; j < n; j++) {
        const float4 other = position[j];
        for (uint i = 0; i < BODIES; i++) {
            const float3 way = other.xyz - mine[i];
            const float square = fma(way.x, way.x, fma(way.y, way.y, fma(way.z, way.z, 0.01f)));
            const float inverse = 1.0f / sqrt(square);
            sum[i] = fma((float3)(other.w * inverse * inverse * inverse), way, sum[i]);
        }
    }
    for (uint i = 0; i < BODIES; i++) {
        force[first + i] = (float4)(sum[i], 0);
    }
}

/* ---- SHA-256 of one block each work-item ---- */

__constant uint round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

__kernel void sha256(__global const uint *restrict blocks, __global uint *restrict digests)
{
    const uint id = get_global_id(0);
    const uint start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    uint w[16], s[8];

    for (uint i = 0; i < 16; i++) {
        w[i] = blocks[id * 16 + i];
    }
    for (uint i = 0; i < 8; i++) {
        s[i] = start[i];
    }
#pragma unroll
    for (uint i = 0; i < 64; i++) {
        if (i >= 16) {
            const uint x = w[(i + 1) % 16], y = w[(i + 14) % 16];
            w[i % 16] += (rotate(x, 25u) ^ rotate(x, 14u) ^ x >> 3) + w[(i + 9) % 16] + (rotate(y, 15u) ^ rotate(y, 13u) ^ y >> 10);
        }
        const uint a = s[(64 - i) % 8], b = s[(65 - i) % 8], c = s[(66 - i) % 8], e = s[(68 - i) % 8], f = s[(69 - i) % 8],
                   g = s[(70 - i) % 8], h = s[(71 - i) % 8];
        const uint one = h + (rotate(e, 26u) ^ rotate(e, 21u) ^ rotate(e, 7u)) + ((e & f) ^ (~e & g)) + round_constants[i] + w[i % 16];
        const uint two = (rotate(a, 30u) ^ rotate(a, 19u) ^ rotate(a, 10u)) + ((a & b) ^ (a & c) ^ (b & c));
        s[(67 - i) % 8] += one;
        s[(71 - i) % 8] = one + two;
    }
    for (uint i = 0; i < 8; i++) {
        digests[id * 8 + i] = s[i] + start[i];
    }
}

/* ---- AES-128, 8 blocks each work-item; the key's rounds and a table are made by the host ---- */

#define LANES 8

__kernel void aes128(__global const uint4 *restrict in, __global uint4 *restrict out, __global const uint4 *restrict keys,
                     __global const uint *restrict table)
{
    const uint first = get_global_id(0) * LANES;
    uint4 x[LANES];

    for (uint i = 0; i < LANES; i++) {
        x[i] = in[first + i] ^ keys[0];
    }
#pragma nounroll
    for (uint r = 1; r < 10; r++) {
#pragma unroll
        for (uint i = 0; i < LANES; i++) {
            const uint4 y = x[i], z = y.yzwx, u = y.zwxy, v = y.wxyz;
            uint4 next = keys[r];
            next ^= (uint4)(table[y.x & 255], table[y.y & 255], table[y.z & 255], table[y.w & 255]);
            next ^= rotate((uint4)(table[z.x >> 8 & 255], table[z.y >> 8 & 255], table[z.z >> 8 & 255], table[z.w >> 8 & 255]), (uint4)(8));
            next ^= rotate((uint4)(table[u.x >> 16 & 255], table[u.y >> 16 & 255], table[u.z >> 16 & 255], table[u.w >> 16 & 255]), (uint4)(16));
            next ^= rotate((uint4)(table[v.x >> 24], table[v.y >> 24], table[v.z >> 24], table[v.w >> 24]), (uint4)(24));
            x[i] = next;
        }
    }
#pragma unroll
    for (uint i = 0; i < LANES; i++) {
        const uint4 y = x[i], z = y.yzwx, u = y.zwxy, v = y.wxyz, box = (uint4)(0xff00);
        uint4 last = (uint4)(table[y.x & 255], table[y.y & 255], table[y.z & 255], table[y.w & 255]) >> 8 & 255;
        last |= (uint4)(table[z.x >> 8 & 255], table[z.y >> 8 & 255], table[z.z >> 8 & 255], table[z.w >> 8 & 255]) & box;
        last |= ((uint4)(table[u.x >> 16 & 255], table[u.y >> 16 & 255], table[u.z >> 16 & 255], table[u.w >> 16 & 255]) & box) << 8;
        last |= ((uint4)(table[v.x >> 24], table[v.y >> 24], table[v.z >> 24], table[v.w >> 24]) & box) << 16;
        out[first + i] = last ^ keys[10];
    }
}

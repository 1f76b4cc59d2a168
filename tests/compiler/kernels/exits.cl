/* SPDX-License-Identifier: MIT */
/*
 * Leaves loops and conditions in several ways, with something to do on some of them. Each kernel has a twin with one
 * way out and one condition, as is written for machines on which lanes meet only where all of them pass.
 */
uint mix(uint h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ h >> 16;
}

/* What the primes of eight numbers mix to: a divisor is a reason to go on with the next number. */
kernel void primes(global uint *out)
{
    uint i = get_global_id(0), sum = 0;

    for (uint k = 0; k < 8; k++) {
        uint n = mix(8 * i + k) >> 18 | 5;
        for (uint d = 2; d * d <= n; d++) {
            if (n % d == 0) {
                goto next;
            }
        }
        sum += mix(n) + mix(n * n) + mix(sum);
    next:;
    }
    out[i] = sum;
}

kernel void primes_twin(global uint *out)
{
    uint i = get_global_id(0), sum = 0;

    for (uint k = 0; k < 8; k++) {
        uint n = mix(8 * i + k) >> 18 | 5;
        bool prime = true;
        for (uint d = 2; prime && d * d <= n; d++) {
            prime = n % d != 0;
        }
        if (prime) {
            sum += mix(n) + mix(n * n) + mix(sum);
        }
    }
    out[i] = sum;
}

float scene(float x, float y, float z)
{
    float a = x - floor(x) - 0.5f, b = y - floor(y) - 0.5f, c = z - floor(z) - 0.5f;

    return sqrt(a * a + b * b + c * c) - 0.3f;
}

float shade(float x, float y, float z)
{
    float e = 0.001f, d = scene(x, y, z);
    float nx = scene(x + e, y, z) - d, ny = scene(x, y + e, z) - d, nz = scene(x, y, z + e) - d;

    return (nx + 2 * ny + 3 * nz) * rsqrt(nx * nx + ny * ny + nz * nz);
}

/* A ray goes on by its distance from spheres, up to one, or until it is far. */
kernel void march(global float *out)
{
    uint i = get_global_id(0), h = mix(i);
    float dx = (h & 255) / 256.0f, dy = (h >> 8 & 255) / 256.0f, dz = 1, x = 0, y = 0, z = 0, t = 0, colour;

    for (;;) {
        float d = scene(x, y, z);
        if (d < 0.01f) {
            colour = shade(x, y, z);
            break;
        }
        t += d;
        if (t > 5) {
            colour = dx * dy + sqrt(dx) + sqrt(dy) + sqrt(dx + dy);
            break;
        }
        x += d * dx;
        y += d * dy;
        z += d * dz;
    }
    out[i] = colour;
}

kernel void march_twin(global float *out)
{
    uint i = get_global_id(0), h = mix(i);
    float dx = (h & 255) / 256.0f, dy = (h >> 8 & 255) / 256.0f, dz = 1, x = 0, y = 0, z = 0, t = 0;
    int state = 0;

    while (state == 0) {
        float d = scene(x, y, z);
        t += d;
        state = d < 0.01f ? 1 : t > 5 ? 2 : 0;
        if (state == 0) {
            x += d * dx;
            y += d * dy;
            z += d * dz;
        }
    }
    out[i] = state == 1 ? shade(x, y, z) : dx * dy + sqrt(dx) + sqrt(dy) + sqrt(dx + dy);
}

/* Keys in an open table: a value found is mixed, a hole is another number. */
kernel void probe(global uint *out, global const uint *table)
{
    uint i = get_global_id(0), key = mix(i) % 4096 + 1, at = mix(key) & 1023, found;

    for (;; at = (at + 1) & 1023) {
        uint there = table[at];
        if (there == key) {
            found = mix(there) ^ mix(there + at) ^ mix(at);
            break;
        }
        if (there == 0) {
            found = mix(key) + mix(at * 3) + mix(key * 5);
            break;
        }
    }
    out[i] = found;
}

kernel void probe_twin(global uint *out, global const uint *table)
{
    uint i = get_global_id(0), key = mix(i) % 4096 + 1, at = mix(key) & 1023;

    while (table[at] != key && table[at] != 0) {
        at = (at + 1) & 1023;
    }
    if (table[at] == key) {
        out[i] = mix(key) ^ mix(key + at) ^ mix(at);
    } else {
        out[i] = mix(key) + mix(at * 3) + mix(key * 5);
    }
}

/* The second condition is only looked at where the first holds; both lead to one side. */
kernel void both(global uint *out, global const uint *table)
{
    uint i = get_global_id(0), sum = 0;

    for (uint k = 0; k < 16; k++) {
        uint a = table[(i * 7 + k) & 1023];
        if ((a & 1) != 0 && (table[a & 1023] & 2) != 0) {
            sum += mix(a) + mix(sum);
        } else {
            sum ^= mix(a * 3) ^ mix(a * 5) ^ mix(sum + 1);
        }
    }
    out[i] = sum;
}

kernel void both_twin(global uint *out, global const uint *table)
{
    uint i = get_global_id(0), sum = 0;

    for (uint k = 0; k < 16; k++) {
        uint a = table[(i * 7 + k) & 1023];
        if ((a & table[a & 1023] >> 1 & 1) != 0) {
            sum += mix(a) + mix(sum);
        } else {
            sum ^= mix(a * 3) ^ mix(a * 5) ^ mix(sum + 1);
        }
    }
    out[i] = sum;
}

/* SPDX-License-Identifier: MIT */
/* Needs registers that are spilled twice, where there are few and nothing is optimised: nobody reads words loaded for that. */
union words {
    ushort halves[4];
    uint2 pair;
    int words[2];
};
struct large {
    int f0;
    char16 f1;
    union words words;
    ushort f3[8];
    long3 f4;
};
struct counts {
    uint f0[4];
    int3 f1;
    uint f2;
    uint4 limits;
    ushort f4;
};

__attribute__((noinline)) long loops(int16 sum, double *unused, local uint3 *limit)
{
    uint n = 3;
    for (uint i = 0; i < 3u; i++) {
        if ((((i <= (*limit).s1) ? 12ul : 6ul) % (0ul | 1)) != 5145564403730468216ul) {
        }
        uint left = (3u & 7u) + 1u;
        while (left-- > 1u && i / (n | 1) >= i) {
            for (uint k = 0; k < 3u; k++) {
                sum = sub_sat(sum, sum);
            }
        }
    }
    return 0;
}

kernel void k(global const uint *in, global uint *out, global uint *sums, uint uniform)
{
    uint lid = (uint)get_local_id(1) * (uint)get_local_size(0) + (uint)get_local_id(0);
    uint size = (uint)get_local_size(0) * (uint)get_local_size(1), group = (uint)get_group_id(0);
    uint gid = group * size + lid;
    local uint some[70];
    local ulong many[70];
    local uint3 limits[70];
    uint first = in[gid];
    int second = (int)(in[gid] >> 7);
    double third = (double)in[gid] * 0.1;
    struct large large;
    struct counts counts;
    long result = loops(as_int16(as_uint16((int16)((int)13u)) - as_uint16((int16)((int)14u))), &third, &limits[lid]);
    if (all((int4)(counts.limits < (uint4)1021835680u))) {
        uint left = (lid & 7u) + 1u;
        do {
            for (uint i = 0; i < ((uchar)15u & 5u) + 1u; i++) {
            }
            for (uint i = 0; i < 3u; i++) {
                for (uint j = 0; j < (many[lid] & 3u) + 1u; j++) {
                }
                switch ((first - i) % 6u) {
                case 0: {
                }
                }
                for (uint j = 0; j < (some[lid] & 7u) + 1u; j++) {
                }
            }
        } while (left-- > 1u && ((int)((uint)large.words.words[0] * (uint)(int)1517691227u) < second));
    }
}

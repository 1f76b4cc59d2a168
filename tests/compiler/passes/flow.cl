/* SPDX-License-Identifier: MIT */
/* pass: flow. A loop that lanes leave at different times, with a branch inside; an early return that parts nobody. */
__kernel void k(__global int *out, int n)
{
    int t = get_global_id(0), sum = 0;

    if (t >= n) {
        return;
    }
    for (int i = 0; i < n; i++) {
        if (i * i > t) {
            break;
        }
        if (i % 3 == t % 3) {
            sum = sum * 5 + out[i + 7];
            out[i] = sum;
            out[i + 1] = t;
            out[i + 2] = sum ^ t;
            out[i + 3] = sum * t;
        }
        sum += i;
    }
    out[t] = sum;
}
/* prints
flow of k
  b0: depth 0, idom b0, convergent -> b1 b11
  b1: depth 0, idom b0, convergent -> b2 b3
  b2: depth 0, idom b1, divergent -> b10 (sync)
  b3: depth 0, idom b1, divergent -> b4
  b4: depth 1, idom b3, divergent -> b5 b6
  b5: depth 1, idom b4, divergent -> b7 (sync)
  b6: depth 1, idom b4, divergent -> b7 (sync)
  b7: depth 1, idom b4, divergent -> b9 (brk) b8
  b8: depth 1, idom b7, divergent -> b4
  b9: depth 0, idom b7, divergent -> b10 (sync)
  b10: depth 0, idom b1, divergent -> b12
  b11: depth 0, idom b0, convergent -> b12
  b12: depth 0, idom b0, divergent ->
  ssy at b4 for b7
  ssy at b1 for b10
  pbrk at b3 for b9
*/

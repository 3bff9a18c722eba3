/* random.c - Philox-4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", SC'11.
 *
 * Ten rounds of a bijection on 128-bit counters under a 64-bit key; passes TestU01 BigCrush. There is no
 * state: the i-th number of a stream is a function of (seed, stream, i), so threads may draw in any order.
 * Not for cryptography. */
#include "core/core.h"

static inline void round_once(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    uint64_t a = UINT64_C(0xD2511F53) * c[0], b = UINT64_C(0xCD9E8D57) * c[2];
    uint32_t c1 = c[1], c3 = c[3];
    c[0] = (uint32_t)(b >> 32) ^ c1 ^ k0;
    c[1] = (uint32_t)b;
    c[2] = (uint32_t)(a >> 32) ^ c3 ^ k1;
    c[3] = (uint32_t)a;
}

uint64_t fc_random(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t c[4] = {(uint32_t)stream, (uint32_t)(stream >> 32), (uint32_t)index, (uint32_t)(index >> 32)};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int i = 0; i < 10; i++) {
        round_once(c, k0, k1);
        k0 += UINT32_C(0x9E3779B9); /* golden ratio */
        k1 += UINT32_C(0xBB67AE85); /* sqrt(3) - 1 */
    }
    return (uint64_t)c[1] << 32 | c[0];
}

double fc_random_real(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(fc_random(seed, stream, index) >> 11) * 0x1p-53;
}

/* The high word of bits * n: each value has floor or ceil of 2^64 / n preimages, so the bias is below n /
 * 2^64. */
uint64_t fc_random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t n)
{
    return (uint64_t)((unsigned __int128)fc_random(seed, stream, index) * n >> 64);
}

void fc_random_permutation(uint64_t seed, uint64_t stream, uint32_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = (uint32_t)fc_random_below(seed, stream, i, (uint64_t)i + 1);
        out[i] = out[j]; /* inside-out: the prefix 0 .. i stays a uniform permutation */
        out[j] = i;
    }
}

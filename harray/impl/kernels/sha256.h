/* SHA-256, as FIPS 180-4 (2015), sections 4.1.2, 4.2.2, 5.1.1, 5.3.3 and 6.2 describe it. */
#ifndef HARRAY_IMPL_KERNELS_SHA256_H
#define HARRAY_IMPL_KERNELS_SHA256_H

#include "../base/all.h"

typedef struct ha_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64]; /* bytes % 64 of it are filled */
} ha_sha256;

typedef struct ha_digest {
    unsigned char byte[32];
} ha_digest;

static const uint32_t ha_sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

HA_IN_ ha_sha256 ha_sha256_begin(void) {
    return (ha_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

HA_IN_ uint32_t ha_rotated(uint32_t x, int n) { return x >> n | x << (32 - n); }

HA_IN_ void ha_sha256_block(ha_sha256 *h) {
    uint32_t w[64], s[8];
    for (int t = 0; t < 16; t++) {
        const unsigned char *b = h->block + 4 * t;
        w[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int t = 16; t < 64; t++) {
        const uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (ha_rotated(a, 7) ^ ha_rotated(a, 18) ^ a >> 3) + w[t - 7] +
               (ha_rotated(b, 17) ^ ha_rotated(b, 19) ^ b >> 10);
    }
    memcpy(s, h->state, sizeof s);
    for (int t = 0; t < 64; t++) {
        const uint32_t e = ha_rotated(s[4], 6) ^ ha_rotated(s[4], 11) ^ ha_rotated(s[4], 25);
        const uint32_t a = ha_rotated(s[0], 2) ^ ha_rotated(s[0], 13) ^ ha_rotated(s[0], 22);
        const uint32_t one = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + ha_sha256_constants[t] +
                             w[t];
        const uint32_t two = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++) h->state[i] += s[i];
}

HA_IN_ void ha_sha256_add(ha_sha256 *h, const void *data, size_t bytes) {
    const unsigned char *from = (const unsigned char *)data;
    while (bytes > 0) {
        const size_t at = h->bytes % 64, some = bytes < 64 - at ? bytes : 64 - at;
        memcpy(h->block + at, from, some);
        h->bytes += some;
        from += some;
        bytes -= some;
        if (h->bytes % 64 == 0) ha_sha256_block(h);
    }
}

HA_IN_ ha_digest ha_sha256_end(ha_sha256 *h) {
    static const unsigned char padding[64] = {0x80};
    const uint64_t bits = 8 * h->bytes;
    unsigned char length[8];
    ha_digest digest;
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> 8 * (7 - i));
    ha_sha256_add(h, padding, 64 - (h->bytes + 8) % 64);
    ha_sha256_add(h, length, 8);
    for (int i = 0; i < 32; i++)
        digest.byte[i] = (unsigned char)(h->state[i / 4] >> 8 * (3 - i % 4));
    return digest;
}

/* A field with its length in front, so that no two lists of fields are the same bytes. */
HA_IN_ void ha_sha256_field(ha_sha256 *h, const void *data, size_t bytes) {
    const uint64_t length = bytes;
    ha_sha256_add(h, &length, sizeof length);
    ha_sha256_add(h, data, bytes);
}

#endif

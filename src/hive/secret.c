/*
 * secret.c - see secret.h.
 */
#include "hive/secret.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

static void to_hex(const u8 *bytes, size_t n, char *to)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
    to[2 * n] = 0;
}

static void draw(void *to, size_t n)
{
    if (gnutls_rnd(GNUTLS_RND_KEY, to, n) != 0)
        abort(); /* a secret that can be guessed is worse than none */
}

void dh_hive_secret_new(char ret[DH_HIVE_SECRET + 1])
{
    u8 bytes[20];
    draw(bytes, sizeof(bytes));
    memcpy(ret, "dhk", 3);
    to_hex(bytes, sizeof(bytes), ret + 3);
}

void dh_hive_secret_hash(const char *text, size_t len, char ret[65])
{
    u8 digest[32];
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, text, len, digest) != 0)
        abort();
    to_hex(digest, sizeof(digest), ret);
}

void dh_hive_secret_sign(const char key[64], const char *text, char ret[65])
{
    u8 digest[32];
    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, 64, text, strlen(text), digest) != 0)
        abort();
    to_hex(digest, sizeof(digest), ret);
}

bool dh_hive_secret_equal(const char a[64], const char b[64])
{
    return gnutls_memcmp(a, b, 64) == 0;
}

u64 dh_hive_secret_random(void)
{
    u64 x;
    draw(&x, sizeof(x));
    return x;
}

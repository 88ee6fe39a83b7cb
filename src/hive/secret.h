/*
 * secret.h - keys and tokens: generated, hashed and compared, by GnuTLS.
 *
 * They are random and long, so a plain hash of them is as good as a slow one. Comparison takes constant time.
 */
#ifndef DH_HIVE_SECRET_H
#define DH_HIVE_SECRET_H

#include "base/base.h"

enum { DH_HIVE_SECRET = 43 }; /* digits of a new key: "dhk" and 160 random bits */

void dh_hive_secret_new(char ret[DH_HIVE_SECRET + 1]);
/* SHA-256, in hexadecimal: 64 digits and a zero. */
void dh_hive_secret_hash(const char *text, size_t len, char ret[65]);
/* HMAC-SHA-256 of the text, in hexadecimal; the key has 64 digits. */
void dh_hive_secret_sign(const char key[64], const char *text, char ret[65]);
bool dh_hive_secret_equal(const char a[64], const char b[64]);
u64 dh_hive_secret_random(void);

#endif

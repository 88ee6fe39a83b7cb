/*
 * process_id.c - see process_id.h.
 *
 * Usually from the kernel's random numbers. If getrandom fails (an old kernel, a seccomp filter, a machine
 * that has just booted), the number is derived from what distinguishes processes: the pid, both clocks, the
 * previous number, and the 16 random bytes that the kernel gives to each program it executes (AT_RANDOM).
 * libc derives its stack protector from those bytes and others may read the records, so they serve as the key
 * of a keyed hash that does not reveal it: SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012).
 */
#include "runtime/report/process_id.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

#include "base/sys.h"

enum { WORDS = 2, BYTES = WORDS * sizeof(u64), SIP_ROUNDS = 2, SIP_FINAL_ROUNDS = 4 };
_Static_assert(DH_PROCESS_ID_DIGITS == 2 * BYTES, "two digits a byte");

/* Written while the process has one thread, or under every lock of the runtime (fork). */
static u64 drawn[WORDS];
static char text[DH_PROCESS_ID_DIGITS + 1];

static u64 rotated(u64 x, int n)
{
    return x << n | x >> (64 - n);
}

static void sip_rounds(u64 v[4], int n)
{
    for (; n > 0; n--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32) + v[3];
        v[2] += v[1];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] = rotated(v[2], 32);
    }
}

/* Of n whole words. */
static u64 sip_hash(const u64 key[2], const u64 *words, size_t n)
{
    u64 v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                key[1] ^ 0x7465646279746573};
    for (size_t i = 0; i <= n; i++) {
        u64 word = i < n ? words[i] : (u64)n * sizeof(*words) << 56; /* the length comes last */
        v[3] ^= word;
        sip_rounds(v, SIP_ROUNDS);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    sip_rounds(v, SIP_FINAL_ROUNDS);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static u64 nanoseconds(int clock)
{
    struct timespec at = {0};
    dh_sys3(SYS_clock_gettime, clock, (long)&at, 0);
    return (u64)at.tv_sec * 1000000000 + (u64)at.tv_nsec;
}

static void draw_without_kernel(void)
{
    u64 key[2] = {0};
    const void *random = (const void *)getauxval(AT_RANDOM); /* if missing, only the rest counts */
    if (random)
        memcpy(key, random, sizeof(key));
    u64 words[] = {0,
                   drawn[0],
                   drawn[1],
                   (u64)dh_sys3(SYS_getpid, 0, 0, 0),
                   nanoseconds(CLOCK_REALTIME),
                   nanoseconds(CLOCK_MONOTONIC)};
    for (u64 i = 0; i < WORDS; i++) {
        words[0] = i;
        drawn[i] = sip_hash(key, words, DH_ARRAY_LEN(words));
    }
}

void dh_process_id_renew(void)
{
    static const char digits[] = "0123456789abcdef";
    u64 fresh[WORDS];
    if (dh_sys3(SYS_getrandom, (long)fresh, BYTES, GRND_NONBLOCK) == BYTES)
        memcpy(drawn, fresh, sizeof(drawn));
    else
        draw_without_kernel();
    for (int i = 0; i < DH_PROCESS_ID_DIGITS; i++)
        text[i] = digits[drawn[i / 16] >> (60 - i % 16 * 4) & 15];
}

const char *dh_process_id(void)
{
    DH_ASSERT(text[0]);
    return text;
}

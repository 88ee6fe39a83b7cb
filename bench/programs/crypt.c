/*
 * crypt.c - IDEA: one team of threads encrypts a text, another decrypts it, and the result must be the text.
 *
 * FastTrack paper, table 1 (Java Grande crypt, 7 threads): 0 for Eraser, MultiRace, Goldilocks, BasicVC,
 * Djit+ and FastTrack.
 *
 * Real: none. The threads of a team work on parts of their own, and the teams follow each other.
 *
 * False: none even from Eraser, which does not know that a joined thread has ended: every byte of the three
 * texts is written by one thread only, and others only read it afterwards. Read-sharing is what its states
 * allow.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: crypt: 128000 bytes, sum b0e5de92f0c83bcb
// NO RACE
#include "program.h"

#include <string.h>

enum { BLOCK = 8, ROUNDS = 8, KEYS = 6 * ROUNDS + 4, BLOCKS = 16000 };

static uint8_t plain[BLOCK * BLOCKS * MAX_SCALE], coded[BLOCK * BLOCKS * MAX_SCALE],
    back[BLOCK * BLOCKS * MAX_SCALE];
static uint16_t encrypt_keys[KEYS], decrypt_keys[KEYS]; /* made by main before there is another thread */

/* Multiplication modulo 65537, where 0 stands for 65536. */
static uint16_t multiply(uint32_t a, uint32_t b)
{
    uint64_t product = (uint64_t)(a ? a : 65536) * (b ? b : 65536);

    return (uint16_t)(product % 65537);
}

/* The inverse by Fermat: x to the power 65535. */
static uint16_t invert(uint16_t x)
{
    uint16_t y = 1;

    for (int i = 0; i < 16; i++)
        y = multiply(multiply(y, y), x);
    return y;
}

/* Sixteen bits at a time out of the 128 of the user's key, which is turned left by 25 after every eight. */
static void expand_key(const uint16_t user[8], uint16_t keys[KEYS])
{
    for (int i = 0; i < KEYS; i++) {
        int bit = (i % 8 * 16 + i / 8 * 25) % 128, word = bit / 16, shift = bit % 16;
        uint32_t pair = (uint32_t)user[word] << 16 | user[(word + 1) % 8];

        keys[i] = (uint16_t)(pair >> (16 - shift));
    }
}

/* Round r of the decryption undoes round 8-r: inverses, with the sums swapped in all but the outer rounds. */
static void reverse_keys(const uint16_t keys[KEYS], uint16_t reversed[KEYS])
{
    for (int r = 0; r <= ROUNDS; r++) {
        const uint16_t *k = &keys[6 * (ROUNDS - r)];
        int swap = r > 0 && r < ROUNDS;

        reversed[6 * r] = invert(k[0]);
        reversed[6 * r + 1] = (uint16_t)-k[swap ? 2 : 1];
        reversed[6 * r + 2] = (uint16_t)-k[swap ? 1 : 2];
        reversed[6 * r + 3] = invert(k[3]);
        if (r < ROUNDS) {
            reversed[6 * r + 4] = k[-2];
            reversed[6 * r + 5] = k[-1];
        }
    }
}

static void code_block(const uint8_t *from, uint8_t *to, const uint16_t *k)
{
    uint16_t x[4];

    for (int i = 0; i < 4; i++)
        x[i] = (uint16_t)(from[2 * i] << 8 | from[2 * i + 1]);
    for (int r = 0; r < ROUNDS; r++, k += 6) {
        uint16_t a = multiply(x[0], k[0]), b = (uint16_t)(x[1] + k[1]), c = (uint16_t)(x[2] + k[2]),
                 d = multiply(x[3], k[3]);
        uint16_t e = multiply(a ^ c, k[4]), f = multiply((uint16_t)(e + (b ^ d)), k[5]);
        uint16_t g = (uint16_t)(e + f);

        x[0] = a ^ f;
        x[1] = c ^ f;
        x[2] = b ^ g;
        x[3] = d ^ g;
    }
    /* The last round's swap of the middle two is undone by naming them the other way round. */
    uint16_t y[4] = {multiply(x[0], k[0]), (uint16_t)(x[2] + k[1]), (uint16_t)(x[1] + k[2]),
                     multiply(x[3], k[3])};
    for (int i = 0; i < 4; i++) {
        to[2 * i] = (uint8_t)(y[i] >> 8);
        to[2 * i + 1] = (uint8_t)y[i];
    }
}

static void code(int me, const uint8_t *from, uint8_t *to, const uint16_t *keys)
{
    long blocks = (long)BLOCKS * scale, end = part(blocks, me + 1, threads);

    for (long i = part(blocks, me, threads); i < end; i++)
        code_block(&from[i * BLOCK], &to[i * BLOCK], keys);
}

THREAD(encrypter)
{
    code(ME, plain, coded, encrypt_keys);
    return NULL;
}

THREAD(decrypter)
{
    code(ME, coded, back, decrypt_keys);
    return NULL;
}

int main(int argc, char **argv)
{
    uint16_t user[8];
    uint64_t state = 136506717, sum = 0;
    long bytes;

    arguments(argc, argv);
    bytes = (long)BLOCK * BLOCKS * scale;
    /* The published example: this key turns the words 0 1 2 3 into 11FB ED2B 0198 6DE5. */
    for (int i = 0; i < 8; i++)
        user[i] = (uint16_t)(i + 1);
    expand_key(user, encrypt_keys);
    reverse_keys(encrypt_keys, decrypt_keys);
    for (long i = 0; i < bytes; i++)
        plain[i] = (uint8_t)(i < BLOCK ? i / 2 * (i % 2) : next_random(&state));
    team(threads, encrypter);
    MUST(memcmp(coded, "\x11\xfb\xed\x2b\x01\x98\x6d\xe5", BLOCK) == 0);
    team(threads, decrypter);
    MUST(memcmp(plain, back, (size_t)bytes) == 0);
    for (long i = 0; i < bytes; i++)
        sum = sum * 33 + coded[i];
    printf("crypt: %ld bytes, sum %" PRIx64 "\n", bytes, sum);
    return 0;
}

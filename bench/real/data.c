/*
 * data.c - writes N megabytes of input for the compressors to standard output: the same bytes every time.
 *
 * usage: data N
 *
 * Chunks take turns: prose of made-up words with a skewed frequency, tables of numbers, binary records with
 * slowly changing fields, and noise, so that a compressor meets long matches, short ones and none.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK (64u << 10)

static uint64_t state = 20;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* Small numbers are far more frequent, as words and letters are. */
static uint32_t skewed(uint32_t limit)
{
    uint32_t a = next() % limit, b = next() % limit, c = next() % limit;
    return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

static size_t word(unsigned char *out)
{
    static const char letters[] = "etaoinshrdlucmfwypvbgkjqxz";
    uint32_t seed = skewed(4000), h = seed * 2654435761u;
    size_t n = 2 + seed % 9;

    for (size_t i = 0; i < n; i++) {
        h = h * 1664525u + 1013904223u;
        uint32_t a = h >> 27, b = (h >> 20) % 26;
        out[i] = (unsigned char)letters[a < b ? a : b];
    }
    return n;
}

static void prose(unsigned char *out)
{
    size_t at = 0;

    while (at + 16 < CHUNK) {
        at += word(out + at);
        out[at++] = next() % 12 ? ' ' : '\n';
    }
    while (at < CHUNK)
        out[at++] = '.';
}

static void numbers(unsigned char *out)
{
    size_t at = 0;

    for (uint32_t row = 0; at + 64 < CHUNK; row++)
        at += (size_t)sprintf((char *)out + at, "%u;%u;%u.%02u\n", row, next() % 1000, skewed(10000),
                              next() % 100);
    while (at < CHUNK)
        out[at++] = '\n';
}

static void records(unsigned char *out)
{
    uint32_t counter = next(), level = next() % 1000;

    for (size_t at = 0; at < CHUNK; at += 16) {
        level += next() % 7;
        uint32_t field[4] = {counter++, level, next() & 0xff, 0xffffffffu};
        for (unsigned f = 0; f < 4; f++)
            for (unsigned b = 0; b < 4; b++)
                out[at + f * 4 + b] = (unsigned char)(field[f] >> (8 * b));
    }
}

static void noise(unsigned char *out)
{
    for (size_t at = 0; at < CHUNK; at++)
        out[at] = (unsigned char)next();
}

int main(int argc, char **argv)
{
    static unsigned char chunk[CHUNK];
    static void (*const kinds[])(unsigned char *) = {prose, numbers, prose, records, prose, noise, records};
    unsigned long megabytes = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

    if (!megabytes) {
        fprintf(stderr, "usage: data MEGABYTES\n");
        return 2;
    }
    for (size_t i = 0; i < megabytes * ((1u << 20) / CHUNK); i++) {
        kinds[i % (sizeof(kinds) / sizeof(kinds[0]))](chunk);
        if (fwrite(chunk, CHUNK, 1, stdout) != 1) {
            perror("data");
            return 1;
        }
    }
    return fflush(stdout) ? 1 : 0;
}

/*
 * clip.c - writes a short film for the encoders to standard output, as YUV4MPEG2: the same bytes every time.
 *
 * usage: clip WIDTH HEIGHT FRAMES
 *
 * A gradient that drifts, discs that cross it with a texture of their own, and a little noise: something for
 * motion search to find, and something it cannot.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DISCS 7

static uint32_t state = 20;

static uint32_t noise(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 24;
}

static unsigned char shade(unsigned x, unsigned y, unsigned width, unsigned height, unsigned frame)
{
    unsigned value = (x * 2 + y + frame * 3) / 4 % 200 + 16;

    for (unsigned d = 0; d < DISCS; d++) {
        int cx = (int)((d * 97 + frame * (d + 2)) % width),
            cy = (int)((d * 61 + frame * (DISCS - d)) % height);
        int dx = (int)x - cx, dy = (int)y - cy, radius = 16 + (int)d * 5;
        if (dx * dx + dy * dy < radius * radius)
            value = 40 + d * 24 + (unsigned)((dx ^ dy) & 15) * 2;
    }
    return (unsigned char)(value + noise() % 6);
}

int main(int argc, char **argv)
{
    unsigned size[3] = {0};

    for (int i = 1; i < argc && i < 4; i++)
        size[i - 1] = (unsigned)strtoul(argv[i], NULL, 10);
    unsigned width = size[0], height = size[1], frames = size[2];
    if (argc != 4 || !width || !height || !frames || width % 2 || height % 2) {
        fprintf(stderr, "usage: clip WIDTH HEIGHT FRAMES (the first two even)\n");
        return 2;
    }
    printf("YUV4MPEG2 W%u H%u F25:1 Ip A1:1 C420jpeg\n", width, height);
    for (unsigned f = 0; f < frames; f++) {
        printf("FRAME\n");
        for (unsigned y = 0; y < height; y++)
            for (unsigned x = 0; x < width; x++)
                putchar(shade(x, y, width, height, f));
        for (unsigned plane = 0; plane < 2; plane++)
            for (unsigned y = 0; y < height / 2; y++)
                for (unsigned x = 0; x < width / 2; x++)
                    putchar((int)(64 + (x + (plane ? y : f)) % 128));
    }
    if (fflush(stdout) || ferror(stdout)) {
        perror("clip");
        return 1;
    }
    return 0;
}

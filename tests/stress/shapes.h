/*
 * shapes.h - accesses of all shapes: the sizes that the pass knows, at any alignment; ranges; loops that it turns
 * into ranges and strided checks; loops over bytes that it does not.
 */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A shape touches `size` bytes at p, `step` bytes apart, `count` times. */
enum shape { SINGLE, RANGE, LOOP, BYTES, STRIDE, SHAPES };

typedef uint32_t shape_vector __attribute__((vector_size(16)));

#define SHAPE_SINGLE(name, type)                                          \
    static __attribute__((noinline)) void name(void *p, bool write)       \
    {                                                                     \
        if (write)                                                        \
            *(volatile type *)p = (type){0};                              \
        else                                                              \
            (void)*(volatile type *)p;                                    \
    }                                                                     \
    static __attribute__((noinline)) void name##_odd(void *p, bool write) \
    {                                                                     \
        struct __attribute__((packed, may_alias)) odd {                   \
            type x;                                                       \
        };                                                                \
        if (write)                                                        \
            ((volatile struct odd *)p)->x = (type){0};                    \
        else                                                              \
            (void)((volatile struct odd *)p)->x;                          \
    }
SHAPE_SINGLE(single1, uint8_t)
SHAPE_SINGLE(single2, uint16_t)
SHAPE_SINGLE(single4, uint32_t)
SHAPE_SINGLE(single8, uint64_t)
SHAPE_SINGLE(single16, shape_vector)

static __attribute__((noinline)) void shape_single(unsigned char *p, size_t size, bool write)
{
    bool fits = (uintptr_t)p % size == 0;
    if (size == 1)
        (write ? single1 : single1_odd)(p, write);
    else if (size == 2)
        (fits ? single2 : single2_odd)(p, write);
    else if (size == 4)
        (fits ? single4 : single4_odd)(p, write);
    else if (size == 8)
        (fits ? single8 : single8_odd)(p, write);
    else
        (fits ? single16 : single16_odd)(p, write);
}

/* A piece at a time; the other end is this function's own. */
static __attribute__((noinline)) void shape_range(unsigned char *p, size_t n, bool write)
{
    unsigned char own[4096];
    __asm__ volatile("" : : "r"(own) : "memory");
    if (write)
        memset(p, 0, n);
    for (size_t at = 0, part; !write && at < n; at += part) {
        part = n - at < sizeof(own) ? n - at : sizeof(own);
        memcpy(own, p + at, part);
        __asm__ volatile("" : : "r"(own) : "memory");
    }
}

static __attribute__((noinline)) void shape_loop(volatile uint32_t *p, size_t n, bool write)
{
    for (size_t i = 0; i < n; i++) {
        if (write)
            p[i] = 0;
        else
            (void)p[i];
    }
}

/* Each byte by a call, so that none of them becomes a range: even ones from one place, odd ones from another. */
static __attribute__((noinline)) void shape_bytes(unsigned char *p, size_t n, bool write)
{
    for (size_t i = 0; i < n; i++)
        (i % 2 ? single1 : single1_odd)(p + i, write);
}

#define SHAPE_STRIDE(bits)                                                                                  \
    static __attribute__((noinline)) void stride##bits(unsigned char *p, size_t step, size_t n, bool write) \
    {                                                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                    \
            if (write)                                                                                      \
                *(volatile uint##bits##_t *)(void *)(p + i * step) = 0;                                     \
            else                                                                                            \
                (void)*(volatile uint##bits##_t *)(void *)(p + i * step);                                   \
        }                                                                                                   \
    }
SHAPE_STRIDE(8)
SHAPE_STRIDE(32)
SHAPE_STRIDE(64)

static __attribute__((noinline)) void shape_access(enum shape shape, unsigned char *p, size_t size,
                                                   size_t step, size_t count, bool write)
{
    if (shape == SINGLE)
        shape_single(p, size, write);
    else if (shape == RANGE)
        shape_range(p, size, write);
    else if (shape == LOOP)
        shape_loop((volatile uint32_t *)(void *)p, size / 4, write);
    else if (shape == BYTES)
        shape_bytes(p, size, write);
    else if (size == 1)
        stride8(p, step, count, write);
    else if (size == 4)
        stride32(p, step, count, write);
    else
        stride64(p, step, count, write);
}

/* Bring the calling thread to where its parts of words are gathered (dh_split_pressure): it has made more mixed
 * words than a thread may have at once. `own` is n bytes that nobody else accesses, and `epoch` begins the next
 * epoch. */
static __attribute__((noinline)) void shape_mix(unsigned char *own, size_t n, void (*epoch)(void))
{
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = k; i < n; i += 4)
            single1(own + i, true);
        epoch();
    }
}

#endif

/*
 * stress.h - shared by the stress programs. Each checks itself, prints "OK" and returns 0. Most are free of races, and
 * under deadheat must do the same and report nothing; the others say which races they expect. A line "FLAGS: ..." in
 * the head comment adds to the compiler's flags.
 */
#ifndef STRESS_H
#define STRESS_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif

/* check.h - cmocka needs these before it, in this order. */
#ifndef DH_TESTS_UNIT_CHECK_H
#define DH_TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those */
#include <cmocka.h>

#endif

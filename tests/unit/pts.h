/*
 * pts.h - what the tests of points-to sets do in every line. Each has one set of constraints at a time, p.
 */
#ifndef UNIT_PTS_H
#define UNIT_PTS_H

#include "ir/pts/pts.h"
#include "unit/check.h"

static struct dh_pts *p;

static dh_pts_node value(void)
{
    return dh_pts_value(p);
}

static dh_pts_node address(dh_pts_object o, uint32_t offset)
{
    dh_pts_node v = value();
    dh_pts_address(p, v, o, offset);
    return v;
}

static dh_pts_object object(uint32_t size)
{
    return dh_pts_object_add(p, size, 0);
}

static void solve(void)
{
    assert_int_equal(dh_pts_solve(p), 0);
}

#endif

/*
 * test_copy.c - src/runtime/engine/copy.c against a model that has a set of accesses for every byte.
 *
 * Only shadow is needed: the memory it describes does not exist. Ranges are random in size, place and
 * distance, so that they overlap both ways and begin and end anywhere in a word; the cells are of every kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/engine/engine.h"
#include "runtime/shadow/collect.h"
#include "runtime/shadow/region.h"
#include "runtime/shadow/touched.h"
#include "unit/handles.h"

#define ARENA 0x100000f0000ull /* a border of regions is in the middle */
enum { BYTES = 128 << 10, HALF = BYTES / 2, IDS = 60, PLANES = 3 };
/* Of all planes: two classes have read there, and the write plane. */
static const u32 planes[PLANES] = {0, 5, DH_NTH_WRITE};

/* ---- What stands below, as far as it is used ---- */

_Thread_local struct dh_hot __dh_hot = DH_HOT_NONE;
volatile bool dh_runtime_off;
bool dh_rules_on;
u64 dh_ranges_active;
static bool marking;
static u64 marked; /* of the ids */
static struct dh_thread self;

static int announced; /* ranges that are not retracted */

u32 dh_range_announce(uptr lo, uptr hi)
{
    assert_true(lo < hi);
    return (u32)announced++;
}
void dh_range_retract(u32 slot)
{
    assert_int_equal(slot, --announced);
}
bool dh_period_all_settled;
void dh_unsampled_disturb(uptr addr, size_t n)
{
    (void)addr;
    (void)n;
}
bool dh_region_has(uptr addr)
{
    return addr >= ARENA && addr < ARENA + BYTES;
}
bool dh_region_has_plane(uptr addr, u32 plane)
{
    bool has = false;
    for (int i = 0; i < PLANES; i++)
        has = has || planes[i] == plane;
    return has && dh_region_has(addr);
}
bool dh_region_get_plane(uptr addr, u32 plane)
{
    return dh_region_has_plane(addr, plane);
}
bool dh_region_map(const volatile void *p, size_t n)
{
    return dh_region_has((uptr)p) && dh_region_has((uptr)p + n - 1);
}
bool dh_region_touched(uptr addr, size_t n)
{
    for (size_t i = 0; i < n; i += 4)
        for (int plane = 0; plane < PLANES; plane++)
            if (!dh_cell_is_none(*dh_shadow_nth(addr + i, planes[plane])))
                return true;
    return false;
}
bool dh_collect_marking(void)
{
    return marking;
}
void dh_collect_mark_cell(dh_cell_t cell)
{
    if (!dh_cell_is_none(cell) && dh_cell_is_simple(cell))
        marked |= 1ull << id_of(cell);
}
void dh_runtime_lose_membarrier(void)
{
}

void dh_parts_flush_now(struct dh_thread *t)
{
    (void)t;
}

void dh_pending_settle_now(struct dh_thread *t)
{
    fail_msg("thread %u has nothing pending", dh_uid_raw(t->uid));
}
void dh_runtime_degrade(const char *why)
{
    fail_msg("%s", why);
}
void dh_runtime_count(enum dh_counter c)
{
    fail_msg("counter %d", (int)c);
}
bool dh_engine_excuses(uptr lock, dh_id_t earlier)
{
    (void)lock;
    (void)earlier;
    return false;
}
void dh_report_race(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size, uptr at)
{
    (void)a, (void)id, (void)addr, (void)size, (void)at;
}
dh_ctx_t dh_thread_leaf(struct dh_thread *t, dh_ctx_t parent, const void *pc)
{
    (void)t, (void)pc;
    return parent;
}
dh_ctx_t dh_thread_frame_ctx(struct dh_thread *t, struct dh_frame *top)
{
    (void)t, (void)top;
    return DH_CTX_NONE;
}
dh_lockset_t dh_thread_lockset(struct dh_thread *t)
{
    (void)t;
    return DH_LOCKSET_EMPTY;
}

/* ---- The model ---- */

static u64 model[PLANES][BYTES]; /* of each byte, bit i: access i */

static u64 ids_of(dh_cell_t cell, u32 k)
{
    struct dh_bytes b;
    if (dh_cell_is_split(cell)) {
        dh_split_read_taken(cell, &b);
        assert_false(dh_cell_is_split(b.cell[k]));
        return ids_of(b.cell[k], k);
    }
    u64 set = 0;
    if (dh_cell_is_simple(cell))
        return dh_mask_has(dh_cell_mask(cell), k) ? 1ull << id_of(cell) : 0;
    const struct dh_history *h = dh_history_get(cell);
    for (u32 i = h->first; i < h->n; i += h->step)
        if (dh_mask_has(dh_cell_mask(h->cells[i]), k))
            set |= 1ull << id_of(h->cells[i]);
    return set;
}

static dh_cell_t cell_at(int plane, size_t byte)
{
    return *dh_shadow_nth(ARENA + byte, planes[plane]);
}

static void check_between(size_t lo, size_t hi, const char *what, size_t dst, size_t src, size_t n)
{
    for (int plane = 0; plane < PLANES; plane++)
        for (size_t i = lo; i < hi; i++)
            if (ids_of(cell_at(plane, i), i & 3) != model[plane][i])
                fail_msg("%s %zu from %zu, %zu bytes: plane %d, byte %zu", what, dst, src, n, plane, i);
}

/* What the work was about and what is around it; now and then everything. */
static void check_all(const char *what, size_t dst, size_t src, size_t n)
{
    static unsigned round;
    size_t lo = dst < src ? dst : src, hi = (dst < src ? src : dst) + n, more = 64;
    if (++round % 32 == 0)
        lo = 0, hi = BYTES;
    check_between(lo > more ? lo - more : 0, hi + more < BYTES ? hi + more : BYTES, what, dst, src, n);
}

/* What is changed in place is in one word only. */
static void check_private(void)
{
    u8 *seen = calloc(2, 1 << 22);
    for (int plane = 0; plane < PLANES; plane++) {
        for (size_t i = 0; i < BYTES; i += 4) {
            dh_cell_t cell = cell_at(plane, i);
            u32 split = dh_cell_is_split(cell);
            if (!split && !(dh_cell_is_history(cell) && dh_history_get(cell)->by_slot))
                continue;
            u32 number = split ? dh_cell_split_index(cell) : dh_cell_history_index(cell);
            assert_true(number < 1 << 22);
            assert_int_equal(seen[split << 22 | number], 0);
            seen[split << 22 | number] = 1;
        }
    }
    free(seen);
}

/* ---- Cells of every kind ---- */

static u32 draw(u32 n)
{
    return (u32)(rand() >> 4) % n;
}

static u32 some_id(void)
{
    return 1 + draw(IDS - 1);
}

static dh_cell_t history_of(u32 n, bool whole)
{
    dh_cell_t e[4], cell;
    for (u32 i = 0; i < n; i++)
        e[i] = cell_of(some_id(), whole ? DH_MASK_ALL : 1 + draw(15));
    assert_true(dh_history_cell(e, n, 0, &cell));
    return cell;
}

static dh_cell_t some_cell(void)
{
    dh_cell_t cell, own;
    switch (draw(8)) {
    case 0:
        return DH_CELL_NONE;
    case 1:
    case 2:
        return cell_of(some_id(), DH_MASK_ALL);
    case 3:
        return cell_of(some_id(), 1 + draw(15));
    case 4:
        return history_of(2 + draw(3), true);
    case 5:
        return history_of(2 + draw(3), false);
    case 6:
        cell = history_of(2 + draw(3), true);
        own = dh_cell_is_history(cell) ? dh_history_private(dh_history_get(cell)) : DH_CELL_NONE;
        return dh_cell_is_none(own) ? cell : own;
    default: {
        dh_cell_t bytes[4];
        for (u32 k = 0; k < 4; k++)
            bytes[k] = draw(3) == 0   ? DH_CELL_NONE
                       : draw(2) == 0 ? history_of(2, true)
                                      : cell_of(some_id(), DH_MASK_ALL);
        return dh_split_new(&self, bytes);
    }
    }
}

/* Fill words [lo, hi): `uniform`, long runs of one cell, as programs leave them. */
static void fill(size_t lo, size_t hi, bool uniform)
{
    for (int plane = 0; plane < PLANES; plane++) {
        for (size_t i = lo; i < hi;) {
            dh_cell_t cell = some_cell();
            size_t run = uniform ? 1 + draw(400) : 1;
            /* What is changed in place belongs to one word. */
            if (dh_cell_is_split(cell) || (dh_cell_is_history(cell) && dh_history_get(cell)->by_slot))
                run = 1;
            for (; run-- && i < hi; i++) {
                *dh_shadow_nth(ARENA + i * 4, planes[plane]) = cell;
                for (u32 k = 0; k < 4; k++)
                    model[plane][i * 4 + k] = ids_of(cell, k);
            }
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    /* Cells are written directly here. */
    dh_touched_set(ARENA, BYTES, DH_TOUCHED_BY_WRITE(planes[0]) | DH_TOUCHED_BY_READ(planes[1]));
    for (int plane = 0; plane < PLANES; plane++) {
        for (size_t half = 0; half < BYTES; half += HALF) { /* at the border it need not be contiguous */
            void *at = (void *)dh_plane_nth(ARENA + half, planes[plane]);
            if (mmap(at, HALF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                     0) != at)
                return -1;
        }
    }
    dh_history_init();
    u32 got;
    if (!dh_ids_init() || dh_id_raw(dh_ids_take(4, &got)) > IDS)
        return -1;
    for (u32 id = DH_ID_BLOCK; id < 4 * DH_ID_BLOCK; id++)
        dh_id_put(dh_id_from(id), &(struct dh_access_rec){.clock = 1,
                                                          .slot = dh_slot_from(id / DH_ID_BLOCK),
                                                          .uid = dh_uid_from(id / DH_ID_BLOCK)});
    for (u32 id = 0; id < DH_ID_BLOCK; id++)
        dh_id_put(dh_id_from(id),
                  &(struct dh_access_rec){.clock = 1, .slot = dh_slot_from(5), .uid = dh_uid_from(5)});
    srand(20140301);
    return 0;
}

static void copy(size_t dst, size_t src, size_t n)
{
    if (n > 0 && draw(4) == 0)
        dh_engine_copy_object(&self, ARENA + dst, ARENA + src, n);
    else
        dh_engine_copy(&self, (void *)(ARENA + dst), (void *)(ARENA + src), n);
    assert_int_equal(announced, 0);
    for (int plane = 0; plane < PLANES; plane++)
        memmove(&model[plane][dst], &model[plane][src], n * sizeof(u64));
    check_all("copy to", dst, src, n);
}

static void clear(size_t at, size_t n)
{
    if (n > 0 && draw(4) == 0)
        dh_engine_clear_object(&self, ARENA + at, n);
    else
        dh_engine_clear(&self, (void *)(ARENA + at), n);
    assert_int_equal(announced, 0);
    for (int plane = 0; plane < PLANES; plane++)
        memset(&model[plane][at], 0, n * sizeof(u64));
    check_all("clear of", at, 0, n);
}

/* ---- Tests ---- */

/* Every size up to a few words, every alignment of both, near and far. */
static void small_ranges(void **state)
{
    (void)state;
    const int far[] = {-40, -9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 40};
    fill(0, BYTES / 4, false);
    for (size_t n = 1; n <= 14; n++)
        for (size_t place = 0; place < 4; place++)
            for (size_t f = 0; f < sizeof(far) / sizeof(far[0]); f++) {
                size_t dst = 4096 + place + (size_t)draw(64) * 4;
                if (draw(8) == 0)
                    fill(1000, 1200, draw(2));
                copy(dst, dst + (size_t)far[f], n);
            }
}

static void random_ranges(void **state)
{
    (void)state;
    for (int round = 0; round < 150; round++) {
        bool close = draw(2), same = draw(2);
        size_t n = 1 + draw(draw(2) ? 300 : 20000);
        size_t dst = draw((u32)(BYTES - n - 1)), src = draw((u32)(BYTES - n - 1));
        if (close)
            src = dst > 700 ? dst - draw(700) : dst + draw(60);
        if (src + n > BYTES)
            src = BYTES - n;
        if (same && (src & ~(size_t)3) + (dst & 3) + n <= BYTES)
            src = (src & ~(size_t)3) + (dst & 3);
        size_t at = (src < dst ? src : dst) / 4;
        fill(at > 8 ? at - 8 : 0, at + n / 4 + 200 < BYTES / 4 ? at + n / 4 + 200 : BYTES / 4, draw(3));
        copy(dst, src, n);
        check_private();
    }
}

/* Over the border of a region, and more than what is given back as pages. */
static void large_ranges(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        size_t n = 70000 + draw(30000), src = draw((u32)(BYTES - n)), dst = draw((u32)(BYTES - n));
        fill(0, BYTES / 4, true);
        if (round % 3 == 0)
            clear(src, n);
        copy(dst, src, n);
        clear(dst, 66000 + draw(4000));
    }
}

static void random_clears(void **state)
{
    (void)state;
    fill(0, BYTES / 4, false);
    for (int round = 0; round < 150; round++)
        clear(draw(BYTES - 300), 1 + draw(draw(2) ? 12 : 300));
}

/* While a collection marks, whatever is copied is marked. */
static void marks(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        clear(0, BYTES);
        for (size_t i = 0; i < 40; i++) {
            *dh_shadow(ARENA + 4096 + i * 4, DH_PLANE_WRITE) = cell_of((u32)i + 1, DH_MASK_ALL);
            for (size_t k = 0; k < 4; k++)
                model[PLANES - 1][4096 + i * 4 + k] = 1ull << (i + 1);
        }
        marking = true;
        marked = 0;
        copy(100 + shift, 4096, 160);
        marking = false;
        assert_true(marked == ((1ull << 40) - 1) << 1);
    }
}

/* Of the shadow: pages that were written to. One that was only read is the kernel's page of zeros. */
static long dirty_kilobytes(void)
{
    char line[256];
    long total = 0, kb;
    bool ours = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        unsigned long lo, hi;
        if (sscanf(line, "%lx-%lx ", &lo, &hi) == 2)
            for (int i = ours = 0; i < 2 * PLANES; i++)
                ours = ours || lo == dh_plane_nth(ARENA + i % 2 * HALF, planes[i / 2]);
        else if (ours && sscanf(line, "Anonymous: %ld kB", &kb) == 1)
            total += kb;
    }
    fclose(f);
    return total;
}

/* What never had a history costs no memory. */
static void untouched_stays_untouched(void **state)
{
    (void)state;
    clear(0, BYTES);
    for (int plane = 0; plane < PLANES; plane++)
        for (size_t half = 0; half < BYTES; half += HALF)
            madvise((void *)dh_plane_nth(ARENA + half, planes[plane]), HALF, MADV_DONTNEED);
    copy(0, 1000, 40000);
    copy(1000, 3, 40000);
    copy(40000, 1, 70001);
    clear(100, 3000);
    assert_int_equal(dirty_kilobytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ranges), cmocka_unit_test(random_ranges),
        cmocka_unit_test(large_ranges), cmocka_unit_test(random_clears),
        cmocka_unit_test(marks),        cmocka_unit_test(untouched_stays_untouched),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

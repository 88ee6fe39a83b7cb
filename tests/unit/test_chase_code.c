/*
 * test_chase_code.c - src/chase/code.c: what instructions access, byte by byte; and that they do the same at
 * another address, by running them there.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "chase/code.h"
#include "unit/check.h"

enum { R = DH_CONTROL_READ, W = DH_CONTROL_WRITE, RW = R | W, NO = DH_CONTROL_NONE, RIP = DH_CONTROL_RIP };
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R12 = 12, R13 = 13 };

struct expected { // NOLINT(clang-analyzer-optin.performance.Padding): in the order in which it is read
    const char *name;
    u8 bytes[16];
    u8 n;
    enum dh_chase_code_kind kind;
    struct dh_control_operand operands[2];
    u8 n_operands;
    bool atomic;
};

#define OP(disp, size_, base_, index_, scale_, kind_, flags_) \
    {.displacement = disp,                                    \
     .size = size_,                                           \
     .base = base_,                                           \
     .index = index_,                                         \
     .scale = scale_,                                         \
     .kind = kind_,                                           \
     .flags = flags_}
#define ACCESS DH_CHASE_CODE_ACCESS
#define FRAME DH_CHASE_CODE_FRAME
#define NONE DH_CHASE_CODE_NONE
#define REFUSED DH_CHASE_CODE_REFUSED

static const struct expected cases[] = {
    {"mov (%rdi), %eax", {0x8b, 0x07}, 2, ACCESS, {OP(0, 4, RDI, NO, 1, R, 0)}, 1, false},
    {"mov %al, 0x10(%r12)",
     {0x41, 0x88, 0x44, 0x24, 0x10},
     5,
     ACCESS,
     {OP(16, 1, R12, NO, 1, W, 0)},
     1,
     false},
    {"mov -8(%r13,%rcx,8), %rdx",
     {0x49, 0x8b, 0x54, 0xcd, 0xf8},
     5,
     ACCESS,
     {OP(-8, 8, R13, RCX, 8, R, 0)},
     1,
     false},
    {"mov 0x1000(,%rax,4), %eax",
     {0x8b, 0x04, 0x85, 0x00, 0x10, 0x00, 0x00},
     7,
     ACCESS,
     {OP(0x1000, 4, NO, RAX, 4, R, 0)},
     1,
     false},
    {"addq $1, 0x100(%rip)",
     {0x48, 0x83, 0x05, 0x00, 0x01, 0x00, 0x00, 0x01},
     8,
     ACCESS,
     {OP(0x100, 8, RIP, NO, 1, RW, 0)},
     1,
     false},
    {"lock xadd %eax, (%rsi)", {0xf0, 0x0f, 0xc1, 0x06}, 4, ACCESS, {OP(0, 4, RSI, NO, 1, RW, 0)}, 1, true},
    {"xadd %eax, (%rsi)", {0x0f, 0xc1, 0x06}, 3, ACCESS, {OP(0, 4, RSI, NO, 1, RW, 0)}, 1, false},
    {"xchg %rax, (%rdi)", {0x48, 0x87, 0x07}, 3, ACCESS, {OP(0, 8, RDI, NO, 1, RW, 0)}, 1, true},
    {"lock cmpxchg16b (%rdi)",
     {0xf0, 0x48, 0x0f, 0xc7, 0x0f},
     5,
     ACCESS,
     {OP(0, 16, RDI, NO, 1, RW, 0)},
     1,
     true},
    {"movups (%rax), %xmm0", {0x0f, 0x10, 0x00}, 3, ACCESS, {OP(0, 16, RAX, NO, 1, R, 0)}, 1, false},
    {"movaps %xmm1, (%rax)", {0x0f, 0x29, 0x08}, 3, ACCESS, {OP(0, 16, RAX, NO, 1, W, 0)}, 1, false},
    {"vmovdqu (%rax), %ymm0", {0xc5, 0xfe, 0x6f, 0x00}, 4, ACCESS, {OP(0, 32, RAX, NO, 1, R, 0)}, 1, false},
    {"vmovdqu64 (%rax), %zmm0",
     {0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x00},
     6,
     ACCESS,
     {OP(0, 64, RAX, NO, 1, R, 0)},
     1,
     false},
    {"movsd (%rax), %xmm0", {0xf2, 0x0f, 0x10, 0x00}, 4, ACCESS, {OP(0, 8, RAX, NO, 1, R, 0)}, 1, false},
    {"fldt (%rax)", {0xdb, 0x28}, 2, ACCESS, {OP(0, 10, RAX, NO, 1, R, 0)}, 1, false},
    {"rep movsb",
     {0xf3, 0xa4},
     2,
     ACCESS,
     {OP(0, 1, RDI, NO, 1, W, DH_CONTROL_REPEAT), OP(0, 1, RSI, NO, 1, R, DH_CONTROL_REPEAT)},
     2,
     false},
    {"rep stosq", {0xf3, 0x48, 0xab}, 3, ACCESS, {OP(0, 8, RDI, NO, 1, W, DH_CONTROL_REPEAT)}, 1, false},
    {"movsl", {0xa5}, 1, ACCESS, {OP(0, 4, RDI, NO, 1, W, 0), OP(0, 4, RSI, NO, 1, R, 0)}, 2, false},
    {"repne scasb", {0xf2, 0xae}, 2, ACCESS, {OP(0, 1, RDI, NO, 1, R, DH_CONTROL_AT_MOST)}, 1, false},
    {"mov %fs:0x10, %rax",
     {0x64, 0x48, 0x8b, 0x04, 0x25, 0x10, 0x00, 0x00, 0x00},
     9,
     ACCESS,
     {OP(16, 8, NO, NO, 1, R, DH_CONTROL_FS)},
     1,
     false},
    {"mov (%edi), %eax",
     {0x67, 0x8b, 0x07},
     3,
     ACCESS,
     {OP(0, 4, RDI, NO, 1, R, DH_CONTROL_ADDR32)},
     1,
     false},
    {"push (%rax)", {0xff, 0x30}, 2, ACCESS, {OP(0, 8, RAX, NO, 1, R, 0)}, 1, false},
    {"call *8(%rax)", {0xff, 0x50, 0x08}, 3, ACCESS, {OP(8, 8, RAX, NO, 1, R, 0)}, 1, false},
    {"jmp *(%rax)", {0xff, 0x20}, 2, ACCESS, {OP(0, 8, RAX, NO, 1, R, 0)}, 1, false},
    {"cmov (%rax), %ecx", {0x0f, 0x44, 0x08}, 3, ACCESS, {OP(0, 4, RAX, NO, 1, R, 0)}, 1, false},
    {"test %eax, (%rbx)", {0x85, 0x03}, 2, ACCESS, {OP(0, 4, RBX, NO, 1, R, 0)}, 1, false},
    {"movnti %eax, (%rbx)", {0x0f, 0xc3, 0x03}, 3, ACCESS, {OP(0, 4, RBX, NO, 1, W, 0)}, 1, false},
    {"btl $3, (%rax)", {0x0f, 0xba, 0x20, 0x03}, 4, ACCESS, {OP(0, 4, RAX, NO, 1, R, 0)}, 1, false},
    {"mov 8(%rsp), %rax", {0x48, 0x8b, 0x44, 0x24, 0x08}, 5, FRAME, {{0}}, 0, false},
    {"mov -8(%rbp), %rax", {0x48, 0x8b, 0x45, 0xf8}, 4, FRAME, {{0}}, 0, false},
    {"push %rax", {0x50}, 1, FRAME, {{0}}, 0, false},
    {"call rel32", {0xe8, 0, 0, 0, 0}, 5, FRAME, {{0}}, 0, false},
    {"ret", {0xc3}, 1, FRAME, {{0}}, 0, false},
    {"leave", {0xc9}, 1, FRAME, {{0}}, 0, false},
    {"lea 8(%rax), %rax", {0x48, 0x8d, 0x40, 0x08}, 4, NONE, {{0}}, 0, false},
    {"nopw (%rax,%rax)", {0x66, 0x0f, 0x1f, 0x04, 0x00}, 5, NONE, {{0}}, 0, false},
    {"prefetcht0 (%rax)", {0x0f, 0x18, 0x08}, 3, NONE, {{0}}, 0, false},
    {"clflush (%rax)", {0x0f, 0xae, 0x38}, 3, NONE, {{0}}, 0, false},
    {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 4, NONE, {{0}}, 0, false},
    {"add %ecx, %eax", {0x01, 0xc8}, 2, NONE, {{0}}, 0, false},
    {"mfence", {0x0f, 0xae, 0xf0}, 3, NONE, {{0}}, 0, false},
    {"vpgatherdd %ymm2, (%rax,%ymm1,4), %ymm0",
     {0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x88},
     6,
     REFUSED,
     {{0}},
     0,
     false},
    {"vmaskmovps (%rax), %ymm1, %ymm0", {0xc4, 0xe2, 0x75, 0x2c, 0x00}, 5, REFUSED, {{0}}, 0, false},
    {"vmovdqu32 %zmm0, (%rax){%k1}", {0x62, 0xf1, 0x7e, 0x49, 0x7f, 0x00}, 6, REFUSED, {{0}}, 0, false},
    {"vmovdqu32 (%rax), %zmm0{%k1}", {0x62, 0xf1, 0x7e, 0x49, 0x6f, 0x00}, 6, REFUSED, {{0}}, 0, false},
    {"bts %ecx, (%rax)", {0x0f, 0xab, 0x08}, 3, REFUSED, {{0}}, 0, false},
    {"xsave (%rax)", {0x0f, 0xae, 0x20}, 3, REFUSED, {{0}}, 0, false},
    {"mov %gs:(%rax), %eax", {0x65, 0x8b, 0x00}, 3, REFUSED, {{0}}, 0, false},
    {"xlat", {0xd7}, 1, REFUSED, {{0}}, 0, false},
};

static void check_operand(const struct expected *e, const struct dh_control_operand *got,
                          const struct dh_control_operand *want)
{
    if (got->displacement == want->displacement && got->size == want->size && got->base == want->base &&
        got->index == want->index && got->scale == want->scale && got->kind == want->kind &&
        got->flags == want->flags)
        return;
    fail_msg("%s: displacement %ld size %u base %u index %u scale %u kind %u flags %u", e->name,
             (long)got->displacement, got->size, got->base, got->index, got->scale, got->kind, got->flags);
}

static void instructions(void **state)
{
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(cases); i++) {
        const struct expected *e = &cases[i];
        struct dh_chase_code c;
        if (dh_chase_code_read(e->bytes, e->n, true, &c) != 0)
            fail_msg("%s cannot be read", e->name);
        if (c.kind != e->kind || c.length != e->n || c.n_operands != e->n_operands || c.atomic != e->atomic)
            fail_msg("%s: kind %d length %u operands %u atomic %d (%s)", e->name, c.kind, c.length,
                     c.n_operands, c.atomic, c.refused ? c.refused : "");
        assert_int_equal(c.refused != NULL, c.kind == REFUSED);
        for (u8 k = 0; k < c.n_operands; k++)
            check_operand(e, &c.operands[k], &e->operands[k]);
    }
}

static void frame_pointer(void **state)
{
    (void)state;
    static const u8 load[] = {0x48, 0x8b, 0x45, 0xf8}; /* mov -8(%rbp), %rax */
    struct dh_chase_code c;
    assert_int_equal(dh_chase_code_read(load, sizeof(load), false, &c), 0);
    assert_int_equal(c.kind, ACCESS);
    assert_int_equal(c.operands[0].base, RBP);
}

static void frame_that_counts(void **state)
{
    (void)state;
    static const u8 bytes[] = {0x8b, 0x44, 0x24, 0x08}; /* mov 8(%rsp), %eax */
    struct dh_chase_code c;
    assert_int_equal(dh_chase_code_read(bytes, sizeof(bytes), false, &c), 0);
    assert_int_equal(c.kind, FRAME);
    assert_int_equal(dh_chase_code_read_any(bytes, sizeof(bytes), &c), 0);
    assert_int_equal(c.kind, ACCESS);
    assert_int_equal(c.n_operands, 1);
    assert_int_equal(c.operands[0].base, RSP);
    assert_int_equal(c.operands[0].displacement, 8);
}

/* Of what is refused, it is still known whether it reads or writes. */
static void kinds_of_refused(void **state)
{
    (void)state;
    static const u8 store[] = {0x62, 0xf1, 0x7e, 0x49, 0x7f, 0x00},
                    load[] = {0x62, 0xf1, 0x7e, 0x49, 0x6f, 0x00};
    struct dh_chase_code c;
    assert_int_equal(dh_chase_code_read(store, sizeof(store), true, &c), 0);
    assert_int_equal(c.kinds, W);
    assert_int_equal(dh_chase_code_read(load, sizeof(load), true, &c), 0);
    assert_int_equal(c.kinds, R);
}

static void no_instruction(void **state)
{
    (void)state;
    static const u8 bad[] = {0x06}, cut[] = {0x48, 0x8b};
    struct dh_chase_code c = {.length = 77};
    assert_int_equal(dh_chase_code_read(bad, 1, true, &c), -EILSEQ);
    assert_int_equal(dh_chase_code_read(cut, 2, true, &c), -EILSEQ);
    assert_int_equal(dh_chase_code_read(cut, 0, true, &c), -EILSEQ);
    assert_int_equal(c.length, 77);
}

/* ---- Out of line ---- */

enum { PAGES = 2 * 4096 };

/* One page of code, one that it is moved to. */
static u8 *new_pages(void)
{
    u8 *p = mmap(NULL, PAGES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

/* The function whose first instruction is moved, called with the moved one instead. */
static long run_moved(u8 *pages, size_t n, long argument)
{
    struct dh_chase_code c;
    u8 *to = pages + 4096;
    assert_int_equal(dh_chase_code_read(pages, n, true, &c), 0);
    assert_true(dh_chase_code_move(&c, (u64)(uintptr_t)pages, (u64)(uintptr_t)to, false, to) > 0);
    pages[0] = 0xcc; /* whoever comes here dies */
    return ((long (*)(long))(uintptr_t)to)(argument);
}

static void moved_plain(void **state)
{
    (void)state;
    static const u8 code[] = {0x48, 0x8b, 0x07, 0xc3}; /* mov (%rdi), %rax; ret */
    u8 *p = new_pages();
    long value = 42;
    memcpy(p, code, sizeof(code));
    assert_int_equal(run_moved(p, 3, (long)(uintptr_t)&value), 42);
    munmap(p, PAGES);
}

static void moved_relative(void **state)
{
    (void)state;
    /* addq $5, 9(%rip); mov 2(%rip), %rax; ret; the variable at 16 */
    static const u8 code[] = {0x48, 0x83, 0x05, 0x08, 0, 0, 0, 5, /* */
                              0x48, 0x8b, 0x05, 0x01, 0, 0, 0, 0xc3, 37};
    u8 *p = new_pages();
    memcpy(p, code, sizeof(code));
    assert_int_equal(run_moved(p, 8, 0), 42);
    assert_int_equal(p[16], 42);
    munmap(p, PAGES);
}

static void moved_call(void **state)
{
    (void)state;
    /* call *16(%rip); ret | at 8: mov (%rsp), %rax; ret | the pointer at 22 */
    static const u8 code[] = {0xff, 0x15, 0x10, 0, 0, 0, 0xc3, 0x90, 0x48, 0x8b, 0x04, 0x24, 0xc3};
    u8 *p = new_pages();
    u64 function = (u64)(uintptr_t)(p + 8);
    memcpy(p, code, sizeof(code));
    memcpy(p + 22, &function, 8);
    /* It returns its own return address, which must be the one behind the original call. */
    assert_int_equal(run_moved(p, 6, 0), (long)(uintptr_t)(p + 6));
    munmap(p, PAGES);
}

/* Runs p's call, which leads to the function behind it, in a slot. There the function returns to a breakpoint, if that is
 * asked for: what the trap would do, leaving it, is done by a nop in its place. */
static long run_copy(u8 *p, bool stop)
{
    struct dh_chase_code c;
    u8 slot[DH_CONTROL_SLOT], *to = p + PAGES / 2;
    assert_int_equal(dh_chase_code_read(p, 5, false, &c), 0);
    c.kind = DH_CHASE_CODE_ACCESS;
    c.copies = true;
    int n = dh_chase_code_move(&c, (u64)(uintptr_t)p, (u64)(uintptr_t)to, stop, slot);
    assert_in_range(n, 1, DH_CONTROL_SLOT);
    memcpy(to, slot, sizeof(slot));
    if (stop && dh_chase_code_can_stop(&c)) {
        assert_int_equal(to[dh_chase_code_behind(&c)], DH_CONTROL_BREAKPOINT);
        to[dh_chase_code_behind(&c)] = 0x90;
    }
    return ((long (*)(void))(uintptr_t)to)();
}

static void moved_copy(void **state)
{
    (void)state;
    /* call 3; ret | at 8: mov (%rsp), %rax; ret */
    static const u8 call[] = {0xe8, 0x03, 0, 0, 0, 0xc3, 0x90, 0x90, 0x48, 0x8b, 0x04, 0x24, 0xc3};
    /* jmp 3 | at 8: mov $42, %eax; ret */
    static const u8 jump[] = {0xe9, 0x03, 0, 0, 0, 0x90, 0x90, 0x90, 0xb8, 42, 0, 0, 0, 0xc3};
    u8 *p = new_pages();
    memcpy(p, call, sizeof(call));
    assert_int_equal(run_copy(p, false), (long)(uintptr_t)(p + 5));
    assert_int_equal(run_copy(p, true), (long)(uintptr_t)(p + PAGES / 2 + 27)); /* behind a push and a jump */
    memcpy(p, jump, sizeof(jump));
    assert_int_equal(run_copy(p, false), 42);
    assert_int_equal(run_copy(p, true), 42); /* it does not come back */
    munmap(p, PAGES);
}

static void too_far(void **state)
{
    (void)state;
    static const u8 code[] = {0x48, 0x83, 0x05, 0x00, 0x01, 0x00, 0x00, 0x01};
    struct dh_chase_code c;
    u8 slot[DH_CONTROL_SLOT];
    assert_int_equal(dh_chase_code_read(code, sizeof(code), true, &c), 0);
    assert_int_equal(dh_chase_code_move(&c, 0x100000000000, 0x200000000000, false, slot), -ERANGE);
    assert_true(dh_chase_code_move(&c, 0x100000000000, 0x100070000000, false, slot) > 0);
    assert_int_equal(dh_chase_code_move(&c, 0x100000000000, 0x100080001000, false, slot), -ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions),      cmocka_unit_test(frame_pointer),
        cmocka_unit_test(no_instruction),    cmocka_unit_test(kinds_of_refused),
        cmocka_unit_test(moved_plain),       cmocka_unit_test(moved_relative),
        cmocka_unit_test(frame_that_counts), cmocka_unit_test(moved_call),
        cmocka_unit_test(moved_copy),        cmocka_unit_test(too_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

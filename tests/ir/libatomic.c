// Calls of libatomic: the same, with the order the program passes, and with checks of the buffers.
// EXPECT load16: atomic_pre=1 atomic_post=1
// MATCH load16: __dh_atomic_pre\(ptr %[^,]*, i32 16, i32 2, i32 0\)
// EXPECT any_size: read_range=1 atomic_pre=1 atomic_post=1
// MATCH any_size: __dh_atomic_pre\(ptr %[^,]*, i32 24, i32 5, i32 1\)
// EXPECT cas_any: read_range=2 atomic_pre=1 atomic_post=1
// EXPECT unknown_order: atomic_pre=1 atomic_post=1
// MATCH unknown_order: and i32 %[0-9]+, 7
// EXPECT add16: atomic_pre=1 atomic_post=1
// MATCH add16: __dh_atomic_pre\(ptr %[^,]*, i32 16, i32 3, i32 2\)
// RUN: -O1 -Wno-atomic-alignment
struct s { long a, b, c; };
__int128 load16(__int128 *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
void any_size(struct s *p, struct s *v) { __atomic_store(p, v, __ATOMIC_SEQ_CST); }
int cas_any(struct s *p, struct s *e, struct s *v)
{
    return __atomic_compare_exchange(p, e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}
unsigned __atomic_load_4(const volatile void *, int);
unsigned unknown_order(unsigned *p, int order) { return __atomic_load_4(p, order); }
__int128 add16(__int128 *p) { return __atomic_fetch_add(p, 1, __ATOMIC_RELEASE); }

// What is not aligned is checked byte-exactly by a call; 4-byte alignment is enough for shadow cells.
// EXPECT r4: read_n=1
// EXPECT w8: write_n=1
// EXPECT half: read8=1
// EXPECT pair: read_n=1
// MATCH r4: __dh_read_n\(ptr [^,]*, i64 4\)
struct __attribute__((packed)) s { char c; int i; long l; };
struct __attribute__((packed, aligned(4))) t { int i; long l; };
typedef short loose __attribute__((aligned(1)));
int r4(struct s *p) { return p->i; }
void w8(struct s *p) { p->l = 1; }
long half(struct t *p) { return p->l; }
short pair(loose *p) { return *p; }

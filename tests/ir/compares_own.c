// A function of the program's own that is called memcmp is checked for what it does, not for its name.
// EXPECT memcmp: rare_read1=1
// EXPECT own: enter=1 exit=1
// RUN: -O2 -fno-builtin
__attribute__((noinline)) int memcmp(const void *a, const void *b, unsigned long n)
{
    return a == b ? (int)n : *(const char *)a;
}
int own(const char *a, const char *b) { return memcmp(a, b, 8) + 1; }

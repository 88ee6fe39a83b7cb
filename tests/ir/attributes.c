// What was known about effects on memory is not true any more.
// NOMATCH *: ^attributes #[0-9]+ = \{.*memory\(none\).*noinline
// EXPECT get: read4=1
// NOMATCH get: memory\(
__attribute__((noinline, pure)) int get(int *p) { return *p; }

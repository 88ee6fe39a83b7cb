// A module without code gets nothing.
// NOMATCH *: __dh_
int x = 3;
const char *names[] = {"a", "b"};

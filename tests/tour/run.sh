#!/bin/sh
# docs/design/tour.md names files and functions: they are there, and the check would notice if they were not.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT

if out=$("$here/check" "$root"); then
    echo "ok tour/names"
else
    echo "FAIL tour/names: $(echo "$out" | head -5 | tr '\n' '|')"
fi

# A tree in which some names are there, and others look as if they were.
mkdir -p "$bad/docs/design" "$bad/src"
cat > "$bad/src/a.c" <<'EOS'
/* In a comment: static int ghost(void); and over
 * int lines(void)
 */
#define MACRO(x) ((x) + 1)
struct pair {
    int left, right; /* int wrong; */
    int *away;
};
enum colour { RED, GREEN = 2,
    BLUE,
};
static int there(const struct pair *p)
{
    const char *s = "int quoted(void)";
    return called(p->left) + other;
}
INTERCEPTOR(int, made, int x)
EOS
echo 'ENTRY(ONE, "one", "v")' > "$bad/src/a.def"
cat > "$bad/docs/design/tour.md" <<'EOS'
Before any file: `early`.
`src/a.c`: `there`, `MACRO`, `struct pair`, `away`, `BLUE`, `made`, `deadheat cc`, `worker()`, `x = 1;`.
    indented: `nothing` in `src/nowhere.c`
`ghost` is in a comment.
`lines` too.
`wrong` too.
`quoted` is in a text.
`called` is called.
`other` is used.
`ther` is part of a name.
`src/gone.c` is gone.
`there` is behind what is gone.
`src/`: a folder; `src/a.def` has `one`, `ONE`.
`there` is in another file, but
`there` and `MACRO` in
`src/a.c` are not, nor is `one`, of `src/a.def`.
`a.c` has no path.
A lonely ` backquote.
EOS
"$here/check" "$bad" | sed 's/^[^:]*:\([0-9]*\):.*/\1/' | sort -n | tr '\n' ' ' > "$bad/got"
if [ "$(cat "$bad/got")" = "1 4 5 6 7 8 9 10 11 12 14 17 18 " ]; then
    echo "ok tour/self-test"
else
    echo "FAIL tour/self-test: complaints about lines $(cat "$bad/got")"
fi

# A name that is changed in the source is noticed: of a copy of the tree, the page stays, a function does not.
mkdir -p "$bad/tree/docs/design"
cp "$root/docs/design/tour.md" "$root/docs/design/race-record.md" "$bad/tree/docs/design/"
mkdir -p "$bad/tree/tests/tour" # which the page names
cp -r "$root/src" "$bad/tree/"
sed 's/check_entry/check_item/g' "$root/src/runtime/engine/step.c" > "$bad/tree/src/runtime/engine/step.c"
mv "$bad/tree/src/report/explain.c" "$bad/tree/src/report/explanation.c"
found=$("$here/check" "$bad/tree" | sed 's/.*md:[0-9]*: //' | tr '\n' '|')
case $found in
"check_entry is not defined or declared in src/runtime/engine/step.c|there is no src/report/explain.c|") echo "ok tour/renamed" ;;
*) echo "FAIL tour/renamed: $found" ;;
esac

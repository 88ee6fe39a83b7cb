#!/bin/sh
# run.sh DEADHEAT - fingerprints that last: what may be done to a program without changing the fingerprint of its race, and
# what must change it. Prints `ok NAME` or `FAIL NAME: why` for each case.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
mkdir base
cp "$here"/*.c "$here"/*.cpp "$here/../../programs/invisible.h" base

# Fingerprint and identity of each race of a program, one a line.
races() { # PROGRAM ARGUMENT...
    rm -f races.jsonl
    "$deadheat" run --report=0 --output=races.jsonl -- "$@" >/dev/null
    "$deadheat" report --all --format=json races.jsonl 2>/dev/null |
        sed -n 's/^{"provenance":"[a-z]*","fingerprint":"\([^"]*\)","identity":"\([^"]*\)".*/\1 \2/p' | sort
}
build() { # DIRECTORY FLAG|FILE...: makes prog there
    (cd "$1" && shift && "$deadheat" cc -g -pthread "$@" -o prog) >log 2>&1 || bad build "$*: $(head -3 log | tr '\n' '|')"
}
edited() { # FILE SED-SCRIPT: a copy of all files, one of them edited, in the directory edit
    rm -rf edit
    cp -r base edit
    sed "$2" "base/$1" >"edit/$1"
    if cmp -s "base/$1" "edit/$1"; then bad edit "'$2' changes nothing in $1"; fi
}
one() { # NAME RACES: there is one
    case $(echo "$2" | wc -l) in
    1) starts "$1" "$2" dh2- ;;
    *) bad "$1" "$2" ;;
    esac
}
differ() { # NAME RACES RACES: no fingerprint is in both, and none is missing
    if [ -z "$2" ] || [ -z "$3" ]; then
        bad "$1" "no race: '$2', '$3'"
    elif { echo "$2" && echo "$3"; } | cut -d ' ' -f 1 | sort | uniq -d | grep -q .; then
        bad "$1" "still $2"
    else
        ok "$1"
    fi
}

build base -O1 base.c
base=$(races base/prog)
one base "$base"
build base -O1 heap.c
heap=$(races base/prog)
one heap "$heap"

# ---- What must not change it ----
remade() { # FILE SED-SCRIPT FLAG|FILE...: edits and builds it; the races are in now, those of before in before
    edited "$1" "$2"
    case $1 in heap.c) before=$heap ;; *) before=$base ;; esac
    remade=$1
    shift 2
    build edit "$@" "$remade"
    now=$(races edit/prog)
}
kept() { # NAME FILE SED-SCRIPT FLAG...
    name=kept-$1
    shift
    remade "$@"
    same "$name" "$now" "$before"
}
nothing='1s/$/ /'
kept lines-above base.c '1a /* one */\n/* two */\n\n' -O1
kept function-above base.c '/^static void count/i static int more(int x)\n{\n    return x + other.hits;\n}\n' -O1
kept function-below base.c '/^int main/i int more(int x)\n{\n    return x + other.hits;\n}\n' -O1
kept formatting-elsewhere base.c '/^THREAD/,/^int main/s/^ */\t\t/' -O1
kept parameter-renamed base.c 's/amount/by_how_much/g' -O1
kept local-renamed base.c 's/seen/held/g; s/more/and_this/g' -O1
kept variable-declared-later base.c '/^struct counts stats/d; /^struct counts other/a struct counts stats;' -O1
for level in -O0 -O2 -O3; do
    kept "optimised$level" base.c "$nothing" $level
    kept "heap-optimised$level" heap.c "$nothing" $level
done
kept inlined base.c 's/^static \(void count\|int look\)/static inline __attribute__((always_inline)) \1/' -O0
kept not-inlined base.c 's/^static \(void count\|int look\)/static __attribute__((noinline)) \1/' -O2
kept heap-inlined heap.c 's/^\(static\|HELPER\) /static inline __attribute__((always_inline)) /' -O0
kept heap-not-inlined heap.c 's/^\(static\|HELPER\) /static __attribute__((noinline)) /' -O2
kept order-of-threads base.c "$nothing" -O1 -DCOUNT_FIRST=0
for form in -gdwarf-4 '-gdwarf-5 -gsplit-dwarf' -gz=zlib -fuse-ld=lld-19 '-flto -fuse-ld=lld-19' -no-pie; do
    # shellcheck disable=SC2086 # a list
    kept "form$(echo "$form" | tr -d ' ')" base.c "$nothing" -O1 $form
done
kept lines-above-allocation heap.c '1a /* one */\n' -O1
kept members-elsewhere heap.c 's/int id, refs;/int id;\n    int refs;/' -O1

# Where it is built, and from where; in which process.
mkdir -p "a/b c" build
cp base/* "a/b c"
(cd build && "$deadheat" cc -g -O1 -pthread "../a/b c/base.c" -o prog)
same kept-build-directory "$(races build/prog)" "$base"
(cd / && "$deadheat" cc -g -O1 -pthread "$work/a/b c/base.c" -o "$work/build/prog")
same kept-absolute-path "$(races build/prog)" "$base"
(cd build && "$deadheat" cc -g -O1 -pthread -ffile-prefix-map="$work=/elsewhere" "$work/a/b c/base.c" -o other)
same kept-mapped-path "$(races build/other)" "$base"
(cd build && setarch -R "$deadheat" run --report=0 --output=fixed.jsonl -- ./prog)
same kept-addresses "$("$deadheat" report --all --format=json build/fixed.jsonl 2>/dev/null | grep -o 'dh2-[0-9a-f]*')" "${base%% *}"

# The variable in another file; in which order the two are linked; in a library.
edited base.c '/^struct counts stats/s/^/extern /'
build edit -O1 base.c other.c -DSTATS_HERE
same kept-variable-in-other-file "$(races edit/prog)" "$base"
build edit -O1 other.c base.c -DSTATS_HERE
same kept-order-of-files "$(races edit/prog)" "$base"
edited base.c 's/^int main(void)/int run(void)/'
echo 'int run(void); int main(void) { return run(); }' >edit/main.c
(cd edit && "$deadheat" cc -g -O1 -pthread -shared -fPIC base.c -o librun.so) && build edit main.c ./librun.so
(cd edit && races ./prog) >found
same kept-in-a-library "$(cat found)" "$base"

# A function of another file, inlined by the linker or not.
edited base.c 's/^    count(1);/    void count_there(int); count_there(1);/; /^static void count/,/^}/d'
build edit -O0 base.c other.c
there=$(races edit/prog)
build edit -O2 -flto -fuse-ld=lld-19 base.c other.c
same kept-inlined-by-linker "$(races edit/prog)" "$there"

# The line is where a macro is used; of text that is included, it is the line there.
edited base.c 's/^    \*(cell .*/    SET(amount);/; 2a #define SET(x) \\\n    stats.hits = x'
build edit -O1 base.c
macro=$(races edit/prog)
one macro "$macro"
sed -i '2a /* more */' edit/base.c
sed -i 's/^    stats.hits = x/       stats.hits = x/' edit/base.c
build edit -O1 base.c
same kept-inside-of-macro "$(races edit/prog)" "$macro"
edited base.c 's/^    \*(cell .*/#include "set.inc"/'
echo 'stats.hits = amount;' >edit/set.inc
build edit -O1 base.c
included=$(races edit/prog)
has included-text /dev/stdin 'count@base.c set.inc:1:12' <<END
$included
END
sed -i '1i /* more */' edit/base.c
build edit -O1 base.c
same kept-lines-above-included-text "$(races edit/prog)" "$included"

# ---- What must change it ----
changed() { # NAME FILE SED-SCRIPT FILE...
    name=changed-$1
    shift
    remade "$@" -O1
    differ "$name" "$now" "$before"
}
# One fact at a time: lines and columns stay what they were, unless they are what is changed.
changed function base.c 's/\bcount(/tally(/'
changed variable base.c 's/stats\.hits/other.hits/'
changed member base.c 's/stats\.hits/stats.miss/'
changed read-to-write base.c 's/^    int seen = stats\.hits;/          stats.hits = 3; int seen = 0;/'
changed atomic base.c 's/^typedef int cell/typedef _Atomic int cell/'
changed line base.c '/int seen/i\    use(2);'
changed column base.c 's/^    \(\*(cell \)/        \1/'
changed thread-local base.c 's/^struct counts stats;/struct counts *where;\n#define stats (*where)/
    s/^    both/    static _Thread_local struct counts own;\n    where = \&own;\n&/'
changed file-of-static-function base.c 's/^    count(1);/    void count_there(int); count_there(1);/; /^static void count/,/^}/d' other.c
changed heap-function heap.c 's/\bhold(/keep(/'
changed free-instead-of-write heap.c 's/^    conn->refs = 0;/               free(conn);/'
changed allocating-function heap.c 's/^#define OPEN open_conn/#define OPEN open_twin/'
changed allocating-line heap.c '/^    return xalloc/i\    use(2);'
# Two variables of one name.
edited base.c 's/stats\.hits/*where/; s/\&\*where/where/; s/^struct counts other;/static int hidden;\nint *hidden_there(void), *where;/
    s/^    both/    where = getenv("THERE") ? hidden_there() : \&hidden;\n&/'
build edit -O0 base.c other.c
differ changed-file-of-static-variable "$(races edit/prog)" "$(THERE=1 races edit/prog)"
# Twins in two files of one name.
edited base.c 's/^    count(1);/    void count_there(int); (getenv("THERE") ? count_there : count)(1);/'
mkdir edit/sub
mv edit/other.c edit/sub/base.c
build edit -O0 base.c sub/base.c
here_and_there=$(races edit/prog && THERE=1 races edit/prog)
same changed-directory-of-file "$(echo "$here_and_there" | cut -d ' ' -f 1 | sort -u | wc -l)" 2
mkdir moved && cp -r edit moved/again && build moved/again -O0 base.c sub/base.c
same kept-directory-of-file "$(races moved/again/prog && THERE=1 races moved/again/prog)" "$here_and_there"

# ---- Without debug information: the symbol, and where in it ----
edited base.c 's/^static \(void count\|int look\)/__attribute__((noinline)) \1/'
(cd edit && "$deadheat" cc -O1 -pthread base.c -o bare)
races edit/bare >bare
like bare-symbols bare '^dh2-.* 2|read bare!look+0x[0-9a-f]*|write bare!count+0x[0-9a-f]*|global stats$'
sed -i '/^static void count/i int more(int x)\n{\n    return x + other.hits;\n}' edit/base.c
(cd edit && "$deadheat" cc -O1 -pthread base.c -o bare)
same bare-function-above "$(races edit/bare)" "$(cat bare)"

# ---- With line numbers and no more: the lines of the file must do ----
edited base.c "$nothing"
build edit -O1 -gline-tables-only base.c
races edit/prog >lines
like lines-only lines '^dh2-.* 2|read look@base.c base.c:[0-9]*:22|write count@base.c base.c:[0-9]*:26|global stats$'

# ---- C++: names that the source has several times, or not at all ----
for level in -O0 -O2; do
    "$deadheat" c++ -g $level -std=c++17 -pthread base/names.cpp -o names && races ./names | cut -d ' ' -f 2- >"names$level"
done
same cxx-optimised "$(cat names-O2)" "$(cat names-O0)"
same cxx-all-told-apart "$(uniq names-O0 | wc -l)" 9
"$deadheat" c++ -g -O1 -pthread base/init.cpp -o init
init=$(races ./init)
one cxx-initialiser "$init"
sed 's/^std::vector/std::vector<long> earlier(7);\n\n&/' base/init.cpp >base/later.cpp
mv base/later.cpp base/init.cpp
"$deadheat" c++ -g -O0 -pthread base/init.cpp -o init
same cxx-kept-initialiser "$(races ./init)" "$init"

exit $failed

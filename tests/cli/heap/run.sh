#!/bin/sh
# run.sh DEADHEAT - types and fields of heap blocks. What is said of each block of fields.c and classes.cpp is in NAME.txt, and
# in NAME-nosource.txt if no lines of source can be looked at: where a field is not named there, it cannot be told.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
cp "$here"/*.c "$here"/*.cpp "$here/../../programs/invisible.h" .

locations() { sed -n 's/^  Location: //p' "$1" | sed 's/ at 0x.*//'; }
check() { # NAME PROGRAM: both reports are as they should be
    for how in '' -nosource; do
        "$deadheat" report --source="$([ "$how" ] && echo 0 || echo 1)" "$2.jsonl" >out 2>err
        locations out >got
        if diff "$here/$2$how.txt" got >diff.txt; then
            ok "$1$how"
        else
            bad "$1$how" "$(tr '\n' '|' <diff.txt)"
        fi
    done
}
record() { # NAME COMMAND FLAG...: the program, and what it records in NAME.jsonl
    name=$1
    shift
    rm -f "$name.jsonl"
    "$deadheat" "$@" -pthread -o "$name" >log 2>&1 || bad "compile-$name" "$(head -3 log)"
    "$deadheat" run --report=0 --output="$name.jsonl" -- "./$name"
}

for flags in -O0 -O2 '-O1 -gdwarf-4' '-O1 -gsplit-dwarf' '-O1 -flto -fuse-ld=lld-19'; do
    # shellcheck disable=SC2086 # a list
    record fields cc -g $flags fields.c opaque.c
    check "fields$(echo "$flags" | tr -d ' ')" fields
done
for level in -O0 -O2; do
    record classes c++ -g $level -std=c++17 classes.cpp
    check "classes$level" classes
done

# ---- Where it is said ----
"$deadheat" report fields.jsonl >out 2>err
has title out 'data race on field `refs` of `struct plain` (pid' 'use-after-free race on field `f` of `struct gone` (pid' \
    'data race on a heap block of 60 bytes (pid'
"$deadheat" report --all --format=json fields.jsonl >out 2>err
has json out '"type":"struct plain"' '"field":"refs"' '"field":"peer[1].proto[2]"' '"element":3' '"summary":"field `refs` of `struct plain`"'
same json-unknown "$(grep -o '"allocated_at"' out | wc -l):$(grep -o '"field"' out | wc -l)" 24:17
left_out() { # NAME PATTERN NUMBER RECORDS
    echo "race:$2" >supp.txt
    "$deadheat" report --suppressions=supp.txt "$4.jsonl" >out 2>err
    has "suppress-$1" err ", $3 suppressed"
}
left_out member '^plain.refs$' 1 fields
left_out all-members '^variant.' 3 fields
left_out cxx-member '^net::Conn.refs$' 1 classes
left_out template '^net::Box<unsigned long>.second$' 1 classes
echo 'race:^plain$' >supp.txt
"$deadheat" report --suppressions=supp.txt fields.jsonl >out 2>err
lacks suppress-type-alone err suppressed

# ---- A small mapping is unmapped by one access, wherever it lies ----
record unmapped cc -O1 -g unmapped.c
"$deadheat" report unmapped.jsonl >out 2>err
same unmapped-size "$(grep -c 'Free of 16384 bytes at 0x7e00000ff000 ' out):$(grep -c 'Free of' out)" "2:2"

# ---- Without debug information it is as it was ----
record bare cc -O1 fields.c opaque.c
"$deadheat" report bare.jsonl >out 2>err
lacks bare out 'field `'
has bare-blocks out 'data race on a heap block of 20 bytes'
exit $failed

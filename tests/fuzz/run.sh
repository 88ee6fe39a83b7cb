#!/bin/sh
# run.sh DEADHEAT OBJ - the fuzzers under AddressSanitizer and UndefinedBehaviorSanitizer, for a fixed number of runs from a
# fixed seed. RUNS=N fuzzes longer. Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why`.
set -u
obj=$(cd "$2" && pwd) || exit 1 # for what is embedded
here=$(cd "$(dirname "$0")" && pwd)
src=$here/../../src
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

if ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
    clang-19 -fsanitize=fuzzer,address -x c - -o "$work/probe" 2>/dev/null; then
    echo "skip fuzz/record: clang-19 has no fuzzer here (libclang-rt-19-dev)"
    echo "skip fuzz/shorten: clang-19 has no fuzzer here (libclang-rt-19-dev)"
    echo "skip fuzz/suppress: clang-19 has no fuzzer here (libclang-rt-19-dev)"
    echo "skip fuzz/dht: clang-19 has no fuzzer here (libclang-rt-19-dev)"
    echo "skip fuzz/pairs: clang-19 has no fuzzer here (libclang-rt-19-dev)"
    echo "skip fuzz/caper_state: clang-19 has no fuzzer here (libclang-rt-19-dev)"
    echo "skip fuzz/hive_api: clang-19 has no fuzzer here (libclang-rt-19-dev)"
    echo "skip fuzz/std: clang-19 has no fuzzer here (libclang-rt-19-dev)"
    exit 0
fi

flags="-std=gnu17 -gline-tables-only -O1 -D_GNU_SOURCE -DDH_VERSION=\"0\" -DDH_HOMEPAGE=\"x:y\" -fno-sanitize-recover=all -I$src -I$here/../../include -I$here/../.. -I/usr/include/postgresql"

# Each room once, as a library of which a fuzzer takes what it needs.
for room in hive store caper report util detect event base; do
    mkdir "$work/$room"
    [ $room = hive ] && cp "$obj"/src/hive/dh_*.c "$work/hive"
    # shellcheck disable=SC2086 # several words, and no blanks in our paths
    if ! (cd "$work/$room" && clang-19 $flags -fsanitize=fuzzer-no-link,address,undefined -c "$src/$room"/*.c $(ls ./*.c 2>/dev/null) &&
        ar rc "../$room.a" ./*.o) >"$work/log" 2>&1; then
        echo "FAIL fuzz/$room: compiling: $(head -3 "$work/log" | tr '\n' '|')"
        exit 1
    fi
done

fuzz() { # NAME RUNS MAX-LENGTH
    mkdir -p "$work/$1"
    # shellcheck disable=SC2086 # several words
    if ! clang-19 $flags -fsanitize=fuzzer,address,undefined "$here/fuzz_$1.c" "$work"/hive.a "$work"/store.a "$work"/caper.a "$work"/report.a "$work"/util.a \
        "$work"/detect.a "$work"/event.a "$work"/base.a -ldw -lelf -ljansson -lzstd -lxxhash -ldl -lm -lgnutls -lsqlite3 -lpq -o "$work/fuzz_$1" \
        >"$work/log" 2>&1; then
        echo "FAIL fuzz/$1: compiling: $(head -3 "$work/log" | tr '\n' '|')"
        failed=1
    # No limit by the clock for one input, which a busy machine exceeds: `within` counts processor time.
    elif ! (cd "$work" && within 60 "./fuzz_$1" -runs="${RUNS:-$2}" -seed=1 -max_len="$3" -timeout=0 "$work/$1" \
        "${seeds:-$here/corpus/$1}") >"$work/log" 2>&1; then
        echo "FAIL fuzz/$1: $(grep -m 3 'ERROR\|SUMMARY\|runtime error\|^within' "$work/log" | tr '\n' '|')"
        sed 's/^/    /' "$work/log" | tail -40
        failed=1
    else
        echo "ok fuzz/$1"
    fi
}

fuzz record 2500 8192
fuzz suppress 20000 512
fuzz shorten 20000 1024
fuzz std 10000 512
fuzz dht 10000 512
fuzz pairs 20000 512
fuzz caper_state 10000 1024
python3 "$here/seeds_hive_api.py" "$work/seeds" # from the description of the interface
seeds=$work/seeds
fuzz hive_api 1000 4096
exit $failed

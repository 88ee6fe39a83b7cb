#!/bin/sh
# run.sh DEADHEAT OBJ - the papers' programs (bench/programs) at their smallest scale, under the default engine:
# with any number of threads, exactly the races marked in their sources are reported, and the result is
# the same. One thread alone cannot race, so only the programs without a race run with one.
#
# The program runner of tests/programs does the work, on copies whose arguments are changed.
# ORACLE=1 uses clang's ThreadSanitizer instead, to test the tests; THREADS="2 16" and PROGRAMS="sor tsp" choose.
set -u
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "$here/../../bench/programs" && pwd)
build=$(cd "$(dirname "$1")/.." && pwd)
runner=$2/tests/programs/program-runner
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

PROGRAM_FLAGS="-I$programs"
export PROGRAM_FLAGS

for name in ${PROGRAMS:-$(cd "$programs" && printf '%s\n' *.c | sed 's,\.c$,,')}; do
    for threads in ${THREADS:-1 2 4 16}; do
        if [ "$threads" -eq 1 ] && ! grep -q '^// NO RACE$' "$programs/$name.c"; then
            continue
        fi
        mkdir -p "$work/$threads"
        copy=$work/$threads/$name.c
        sed "s,^// ARGS: .*,// ARGS: $threads 1," "$programs/$name.c" >"$copy"
        line=$("$runner" ${ORACLE:+--oracle} "$build" "$copy")
        case $line in
        "ok programs/$name") echo "ok bench-programs/$name-$threads" ;;
        *)
            echo "FAIL bench-programs/$name-$threads: ${line#*: }"
            failed=1
            ;;
        esac
    done
done

# EXPECTED.tsv, which says what every detector must find: all programs, the same detectors for each, the precise
# ones and CP agreed, and no race for them exactly where the source says so.
why=$(for source in "$programs"/*.c; do
    name=$(basename "$source" .c)
    grep -q '^// NO RACE$' "$source" && echo "$name quiet" || echo "$name races"
done | awk -F '\t' '
    FNR == NR { split($0, word, " "); races[word[1]] = word[2] == "races"; next }
    /^#/ { next }
    $1 == "program" { next }
    NF != 5 || $3 !~ /^[0-9]+$/ { print "line " FNR " is not of five columns with a number" }
    !($1 in races) { print "no program " $1 }
    ($1, $2) in found { print $1 " has " $2 " twice" }
    { found[$1, $2] = $3; detectors[$2] = 1 }
    END {
        split("goldilocks basicvc djit cp", precise, " ")
        for (p in races) {
            for (d in detectors)
                if (!((p, d) in found))
                    print p " lacks " d
            for (i in precise)
                if (found[p, precise[i]] != found[p, "fasttrack"])
                    print p ": " precise[i] " is not fasttrack"
            if ((found[p, "fasttrack"] > 0) != races[p])
                print p ": its marks say otherwise"
        }
    }' - "$programs/EXPECTED.tsv" | tr '\n' ';')
if [ -z "$why" ]; then
    echo "ok bench-programs/expected"
else
    echo "FAIL bench-programs/expected: $why"
    failed=1
fi
exit $failed

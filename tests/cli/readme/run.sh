#!/bin/sh
# run.sh DEADHEAT - what the documentation promises is what a reader gets.
#
#   report   the report in README.md is the one that `make demo` prints, but for numbers that vary
#   options  every option of options.def is in the guide and in the manual page, and no others
#   links    every relative link in the documentation leads to a file
#
# BUILD is the tree under test. Prints `ok NAME` or `FAIL NAME: why` for each case.
set -u
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS
cd "$root" || exit 1
failed=0

verdict() { # NAME WHY: WHY is empty if all is well
    if [ -z "$2" ]; then
        echo "ok cli/readme/$1"
    else
        echo "FAIL cli/readme/$1: $2"
        failed=1
    fi
}

# Process and thread ids, addresses and the order of the two workers vary, and so does the number of
# repetitions; the build directory is the tester's own, and reports name it as it is seen from here.
normalise() {
    sed -e "s,$BUILD/,build/,g" -e "s, ${BUILD#"$root"/}/, build/,g" -e 's/(pid [0-9]*)/(pid N)/' -e 's/(tid [0-9]*)/(tid N)/' \
        -e 's/0x[0-9a-f]*/ADDRESS/g' -e 's/thread T[23]/thread Tx/g' -e 's/Thread T[23]/Thread Tx/g' \
        -e 's/ ([0-9]* repetitions\{0,1\})$//' -e 's/^2000 requests served, [0-9]* counted$/SERVED/'
}
# What the program itself prints comes first or last, as its standard output is buffered.
served_first() {
    sed -n '/^\$/p; /^SERVED$/p' "$1"
    sed '/^\$/d; /^SERVED$/d' "$1"
}

# shellcheck disable=SC2016 # the backquotes are Markdown's
sed -n '/^```$/,/^```$/p' README.md | grep -v '^```$' | normalise >"$work/promised"
examples/demo/run "$BUILD" 2>&1 | normalise | grep -v '^  dh2-.* times$' >"$work/demo" # but a list of repeated races
served_first "$work/demo" >"$work/given"
verdict report "$(diff "$work/promised" "$work/given" | head -6 | tr '\n' '|')"

sed -n 's/^DH_OPTION(\([a-z_]*\),.*/\1/p' include/deadheat/options.def | grep -v '^help$' | sort >"$work/options"
sed -n 's/^| `\([a-z_]*\)=.*/\1/p' docs/guide/run.md | sort >"$work/guide"
sed -n 's/^\.BR \\-\\-\([a-z\\-]*\)=.*/\1/p' man/deadheat-run.1 | sed 's/\\-/_/g' | sort >"$work/man"
verdict options "$({ diff "$work/options" "$work/guide"; diff "$work/options" "$work/man"; } | tr '\n' '|')"

for page in README.md CONTRIBUTING.md docs/*.md docs/*/*.md; do
    grep -o '](\([^)#]*\)' "$page" | sed 's/^](//' | grep -v '^[a-z]*:' | while read -r target; do
        [ -z "$target" ] || [ -e "$(dirname "$page")/$target" ] || echo "$page: $target"
    done
done >"$work/dead"
verdict links "$(tr '\n' '|' <"$work/dead")"
exit $failed

# lib.sh - sourced by tests/field/run.sh and tests/field/*/run.sh: how a program is built and chased. As tests/cli/lib.sh, and
# afterwards obj (the object directory), library (that of the field) and programs (where these are); the current
# directory is a fresh one.
fields=$(cd "$(dirname "$0")" && pwd)
fields=${fields%/field*}/field
. "$fields/../cli/lib.sh"
suite=field${here#"$fields"}
obj=$2
library=$(dirname "$deadheat")/../lib/deadheat/libdeadheat-field.so
programs=$fields/programs
cd "$work" || exit 1

line() { grep -n "// $2\$\|/\* $2 \*/" "$programs/$1.c" | head -1 | cut -d: -f1; } # PROGRAM MARK
build() { # COMPILER FLAGS PROGRAM [OUTPUT]
    # shellcheck disable=SC2086
    "$1" -g $2 -D_GNU_SOURCE -pthread "$programs/$3.c" -o "${4:-$3}" || { bad "build-$3" "$1 $2"; exit 1; }
}
chase() { # ARGUMENTS: sets status, fills out and err
    "$deadheat" chase --source=0 "$@" >out 2>err
    status=$?
}
persist() { # ARGUMENTS: the same until a race is confirmed: a thread may get no processor while the other is held, for a millisecond
    # perhaps
    for _ in $(seq 100); do
        chase "$@"
        [ "$status" -ne 3 ] && return
    done
}
await() { # WORDS ARGUMENTS: the same until these words are said; on a busy machine two threads may not meet for long
    words=$1
    shift
    for _ in $(seq 100); do
        chase "$@"
        grep -qF -- "$words" err && return
    done
}
self() { echo "$1.c:$(line "$1" FIRST):$1.c:$(line "$1" FIRST)"; } # the pair of one line with itself
refused() { # NAME SENTENCE ARGUMENTS
    name=$1 sentence=$2
    shift 2
    chase "$@"
    same "$name" "$status" 2
    has "$name-sentence" err "deadheat chase: error: $sentence"
}
# No race, where what orders threads is followed: if all are ordered after the first access before one comes to the second, nobody
# looks any more.
none="no race: other threads reached the second access\|not seen: threads were sampled 1 time at the first access"

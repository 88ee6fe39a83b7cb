# lib.sh - sourced by tests/cli/*/run.sh: a place to work, and how a case tells what became of it.
#
# Afterwards: here (the test's directory), deadheat (the program), work (a fresh directory, removed at the end), and
# failed (0 or 1), which the script ends with. A test is called cli/SUITE/NAME, where SUITE is its directory.
set -u
here=$(cd "$(dirname "$0")" && pwd)
suite=cli/$(basename "$here")
deadheat=$(readlink -f "${DEADHEAT:-$1}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS DEADHEAT_RUN NO_COLOR
failed=0

ok() { echo "ok $suite/$1"; }
bad() { # NAME WHY
    echo "FAIL $suite/$1: $2"
    failed=1
}
skip() { echo "skip $suite/$1: $2"; } # NAME WHY

same() { # NAME GOT WANTED
    if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "got '$2', not '$3'"; fi
}
starts() { # NAME GOT BEGINNING
    case $2 in "$3"*) ok "$1" ;; *) bad "$1" "got '$2', not '$3...'" ;; esac
}
has() { # NAME FILE TEXT...: every text is in the file
    name=$1 file=$2
    shift 2
    for text; do
        if ! grep -qF -- "$text" "$file"; then
            bad "$name" "no '$text' in: $(head -40 "$file" | tr '\n' '|')"
            return
        fi
    done
    ok "$name"
}
lacks() { # NAME FILE TEXT
    if grep -qF -- "$3" "$2"; then bad "$1" "'$3' is in $2"; else ok "$1"; fi
}
like() { # NAME FILE PATTERN
    if grep -q -- "$3" "$2"; then ok "$1"; else bad "$1" "no '$3' in: $(head -5 "$2" | tr '\n' '|')"; fi
}

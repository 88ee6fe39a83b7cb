#!/bin/sh
# run.sh DEADHEAT - examples/lardvm: it builds with every compiler, runs its programs right with any number of workers and
# both collectors, is clean under the sanitizers, says one sentence about bad programs, and under `deadheat run`
# races exactly where its programs say so.
#
# PROGRAMS="churn relay" chooses programs.
set -u
deadheat=${DEADHEAT:-$1}
here=$(cd "$(dirname "$0")" && pwd)
vm=$here/../../../examples/lardvm
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset DEADHEAT_OPTIONS MAKEFLAGS MAKELEVEL MFLAGS
cd "$work" || exit 1
failed=0

ok() { echo "ok lard/vm/$1"; }
bad() {
    echo "FAIL lard/vm/$1: $2"
    failed=1
}
same() {
    if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "got '$2', not '$3'"; fi
}

# ---- Building ----
build() { # NAME MAKE-VARIABLES...
    name=$1
    shift
    if make -s -C "$vm" O="$work/$name" "$@" >log 2>&1 && [ ! -s log ]; then
        ok "build-$name"
    else
        bad "build-$name" "$(head -3 log | tr '\n' '|')"
    fi
}
build gcc CC=gcc JUDGE_CC=gcc FLAGS=-Werror
build clang CC=clang-19 JUDGE_CC=clang-19 FLAGS=-Werror
build asan CC=clang-19 JUDGE_CC=clang-19 CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
build tsan CC=clang-19 JUDGE_CC=clang-19 CFLAGS="-O1 -g -fsanitize=thread"
build deadheat CC="$deadheat cc" JUDGE_CC=clang-19 FLAGS=-Werror
build told CC=gcc JUDGE_CC=gcc LINK="$deadheat cc" FLAGS="-Werror -DDH_LARD=1"
same nothing-left-of-lard "$(nm gcc/lardvm clang/lardvm | grep -c 'dh_lard')" 0

# ---- Its programs ----
options() { sed -n 's/^; options: //p' "$1"; }
expected() { sed -n 's/^; expect: //p' "$1"; }
racy() { grep -q '; *RACE' "$1"; }

# Runs a program in a build; what is wrong with the result, if anything. The last --workers counts.
try() { # BUILD PROGRAM FLAGS...
    build=$1 program=$2
    shift 2
    # shellcheck disable=SC2046 # options are words
    out=$(within 60 "$build/lardvm" $(options "$program") "$@" "$program" 2>err | tr '\n' ' ')
    want=$(expected "$program")
    [ -s err ] && echo "$build $*: $(head -2 err | tr '\n' '|')"
    [ "$want" = any ] || [ "$out" = "$want " ] || echo "$build $*: got '$out', not '$want'"
}

# The judge's lines are among those marked, and there are some if any are marked.
judged() { # PROGRAM
    grep -v '^end' oracle | cut -f2 | sort -u >found
    grep -n '; *RACE' "$1" | cut -d: -f1 | sort -u >marked
    comm -23 found marked | grep -q . && echo "the oracle finds unmarked lines $(comm -23 found marked | tr '\n' ' ')"
    [ -s marked ] && [ ! -s found ] && echo "the oracle finds no race"
    tail -1 oracle | grep -q '^end' || echo "the oracle did not finish"
}

for program in "$vm"/programs/*.lasm; do
    name=$(basename "$program" .lasm)
    case " ${PROGRAMS:-$name} " in *" $name "*) ;; *) continue ;; esac
    wrong=
    for gc in mark-sweep semispace; do
        for workers in 1 2 8; do
            wrong=$wrong$(try gcc "$program" --gc=$gc --workers=$workers)
            wrong=$wrong$(try clang "$program" --gc=$gc --workers=$workers --oracle=oracle)
            wrong=$wrong$(judged "$program")
        done
        wrong=$wrong$(try asan "$program" --gc=$gc --workers=4 --oracle=oracle)
        wrong=$wrong$(try tsan "$program" --gc=$gc --workers=4)
    done
    same "program-$name" "$wrong" ""

    # Under the fast engine: instrumented, and telling by itself.
    wrong=
    racy "$program" && status=66 || status=0
    for gc in mark-sweep semispace; do
        for build in deadheat told; do
            # shellcheck disable=SC2046
            within 60 "$deadheat" run --report=0 -- "$build/lardvm" $(options "$program") --gc=$gc "$program" >out 2>err
            got=$?
            [ "$got" -eq "$status" ] || wrong="$wrong$build --gc=$gc: exit status $got, not $status; "
        done
    done
    same "race-$name" "$wrong" ""
done

# ---- Bad programs: one sentence, status 2 ----
says() { # NAME SENTENCE, the program on standard input
    cat >bad.lasm
    within 20 asan/lardvm bad.lasm >out 2>err
    same "says-$1" "$?: $(cat err)" "2: lardvm: $2"
}
printf 'func main 0\n  frobnicate r1\nend\n' | says instruction "bad.lasm:2: there is no instruction 'frobnicate'"
printf 'func main 0\n  int r64, 1\nend\n' | says register "bad.lasm:2: '64' is not a number from 0 to 63"
printf 'func main 0\n  int x, 1\nend\n' | says no-register "bad.lasm:2: 'x' is not a register; registers are r0 to r63"
printf 'func main 0\n  int r1\nend\n' | says operands "bad.lasm:2: 'int' has 2 operands, not 1"
printf 'func main 0\n  jmp there\nend\n' | says label "bad.lasm:2: there is no label 'there'"
printf 'func main 0\n  get r1, r2, A.b\nend\n' | says field "bad.lasm:2: there is no field 'A.b'"
printf 'func main 0\n  call r1, f, r2\nend\n' | says function "bad.lasm:2: there is no function 'f'"
printf 'func main 0\n' | says end "bad.lasm:2: the last function has no 'end'"
printf 'int r1, 1\n' | says outside "bad.lasm:1: an instruction is outside of any function"
printf '' | says empty "bad.lasm has no function 'main'"
printf 'a\0b' | says zero "bad.lasm is no program: it holds bytes of zero"
printf '\377\001\n' | says bytes "bad.lasm:1: there is no instruction '??'"
head -c 2000000 /dev/zero | tr '\0' 'x' | says long "bad.lasm is no program: it is longer than 1048576 bytes"
printf 'class A x\nfunc main 0\n  nil r1\n  get r1, r1, A.x\nend\n' | says null "bad.lasm:4: there is no object"
printf 'class A x\nfunc main 0\n  int r1, 5\n  get r1, r1, A.x\nend\n' |
    says number "bad.lasm:4: a number is used as an object"
printf 'class A x\nclass B x\nfunc main 0\n  new r1, B\n  get r1, r1, A.x\nend\n' |
    says class "bad.lasm:5: the object is of another class"
printf 'func main 0\n  int r1, 3\n  array r2, r1\n  aget r3, r2, r1\nend\n' |
    says index "bad.lasm:4: the index is outside of the array"
printf 'func main 0\n  int r1, 0\n  div r1, r1, r1\nend\n' | says zero-division "bad.lasm:3: division by zero"
printf 'class A x\nfunc main 0\n  new r1, A\n  unlock r1\nend\n' |
    says monitor "bad.lasm:4: the thread is not in the monitor"
printf 'func f 1\nend\nfunc main 0\n  int r1, 0\n  start r2, f, r1\n  join r2\n  join r2\nend\n' |
    says joined "bad.lasm:7: a thread joins itself, or one that was joined before"
printf 'func main 0\n  await 1\nend\n' | says deadlock "bad.lasm: deadlock: 1 thread waits forever"
printf 'func main 0\n  int r1, 200\nagain:\n  array r2, r1\n  int r4, 0\n  aput r2, r4, r3\n  mov r3, r2\n  jmp again\nend\n' |
    says memory "out of memory: the heap is full of objects in use"
printf 'func main 0\n  call r1, main, r1\nend\n' | says recursion "bad.lasm: the function 'main' calls itself without end"

# Programs with bytes changed here and there: read, or refused by one sentence; never anything else.
awk 'BEGIN { srand(7); for (n = 0; n < 200; n++) print int(rand() * 1e6), int(rand() * 94) + 33 }' >changes
wrong=
for program in "$vm"/programs/relay.lasm "$vm"/programs/work-sort.lasm; do
    size=$(wc -c <"$program")
    while read -r at byte; do
        cp "$program" bad.lasm
        # shellcheck disable=SC2059 # an octal escape
        printf "\\$(printf %o "$byte")" | dd of=bad.lasm bs=1 seek=$((at % size)) conv=notrunc 2>err
        within 20 asan/lardvm --assemble bad.lasm >out 2>err
        got=$?
        [ $got -eq 0 ] && [ ! -s err ] && continue
        [ $got -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q '^lardvm: bad.lasm' err && continue
        wrong="$wrong$(basename "$program") byte $at: status $got: $(head -2 err); "
    done <changes
done
same assembler-garbage "$wrong" ""
exit $failed

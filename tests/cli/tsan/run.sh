#!/bin/sh
# run.sh DEADHEAT - for those who come from ThreadSanitizer: the guide names every flag that the installed clang lists and every
# annotation in its header, and `run --tsan-options` takes over what it says, in words where it cannot.
. "$(dirname "$0")/../lib.sh"

guide=$here/../../../docs/guide/from-tsan.md
cd "$work" || exit 1
unset TSAN_OPTIONS

# ---- The guide has them all ----
echo 'int main(void) { return 0; }' >empty.c
if clang-19 -fsanitize=thread empty.c -o empty 2>log && TSAN_OPTIONS=help=1 ./empty >help 2>&1 && grep -q halt_on_error help; then
    sed -n 's/^\t\([a-z_0-9]*\)$/\1/p' help >flags
    [ "$(wc -l <flags)" -gt 100 ] && ok flags-read || bad flags-read "$(wc -l <flags) flags"
    while read -r flag; do
        grep -qF "\`$flag\`" "$guide" || echo "$flag"
    done <flags >missing
    same flags-in-guide "$(tr '\n' ' ' <missing)" ""
    sed -n '/^## Every flag/,/^## Every annotation/p' "$guide" | sed -n 's/^| \(`.*`\) | .*/\1/p' | grep -o '`[a-z_0-9]*`' | tr -d '`' | sort >named
    sort flags | comm -13 - named >invented
    same flags-only "$(tr '\n' ' ' <invented)" ""
    header=$(clang-19 -print-resource-dir)/include/sanitizer/tsan_interface.h
    grep -o '\(__tsan_[a-z_]*\)(' "$header" | tr -d '(' | sort -u | while read -r name; do
        grep -qF "$name" "$guide" "$here/../../../docs/guide/compat.md" || echo "$name"
    done | grep -v '^__tsan_\(get_report\|get_current_report\|get_alloc\|locate\)' >missing
    same annotations-in-guide "$(tr '\n' ' ' <missing)" ""
else
    skip flags "clang-19 cannot link ThreadSanitizer, or it does not run here"
fi

# ---- What they do ----
cp "$here/../../../examples/demo/hits.c" . && "$deadheat" cc -g -O1 -pthread hits.c -o hits || bad compile "deadheat cc failed"
run() { # ARGUMENTS: sets status, fills err
    "$deadheat" run "$@" -- ./hits >out 2>err
    status=$?
}
TSAN_OPTIONS='exitcode=5:color=never' run --tsan-options
same environment "$status:$(grep -c 'tsan-options' err)" 5:0
TSAN_OPTIONS=exitcode=5 run
same only-when-asked "$status" 66
TSAN_OPTIONS=exitcode=5 run --tsan-options="exitcode=7"
same text-wins "$status" 7
run --tsan-options="exitcode=7" --exitcode=8
same later-flag-wins "$status" 8
run --tsan-options
same not-set "$status:$(head -1 err)" "66:deadheat run: warning: --tsan-options: TSAN_OPTIONS is not set"
echo 'race:^count_hit$' >known.txt
run --tsan-options="suppressions='known.txt',print_suppressions=1"
same suppressions "$status" 0
has suppressions-counted err "suppressed 1"
run --tsan-options="halt_on_error=true"
same halt "$status" 134
run --tsan-options="report_bugs=0"
same no-reports "$status:$(cat err)" 0:
run --tsan-options="log_path=races.jsonl"
same log "$status" 66
has log-said err "log_path=races.jsonl holds race records"
has log-written races.jsonl '"race"'
run --tsan-options="history_size=7 io_sync=2 report_signal_unsafe=0 detect_deadlocks=1 verbosity=2 no_such_flag=3"
has said err "history_size=7 has no effect: no access is forgotten" "io_sync=2 counts as io_sync=1" \
    "detect_deadlocks=1 has no effect" "verbosity=2 is not supported" "no_such_flag=3 is not supported"
lacks same-unsaid err report_signal_unsafe
run --tsan-options="halt_on_error"
same no-value "$status:$(cat err)" "2:deadheat run: error: --tsan-options: 'halt_on_error' has no value; it is name=value:name=value"
run --tsan-options="suppressions='x"
same no-quote "$status:$(cat err)" "2:deadheat run: error: --tsan-options: the value of 'suppressions' lacks its closing quote"
run --tsan-options="exitcode=many"
same bad-value "$status" 2
has bad-value-said err "option '--exitcode' cannot be 'many'"

# Every flag, with a value that is not its default, is taken over or said.
if [ -s flags ]; then
    : >silent
    while read -r flag; do
        case $flag in suppressions | color | exitcode | atexit_sleep_ms | halt_on_error | report_bugs | suppress_equal_stacks | print_suppressions) continue ;; esac
        echo "$flag=9"
    done <flags >settings
    run --tsan-options="$(tr '\n' ':' <settings)"
    while read -r setting; do
        grep -q -- "--tsan-options: $setting " err || echo "$setting" >>silent
    done <settings
    same never-silent "$(tr '\n' ' ' <silent)" ""
fi
exit $failed

# lib.sh - sourced by the run.sh here and below: one analysis, seen in both styles.
#
# Before: deadheat, the program, and work, a directory.

# Both styles are views of one table of pairs. It is made once and put where a program would carry it.
both_styles() { # OPTIONS FILE.bc...: $work/relay.json and $work/sound.json; else $work/err says why not
    options=$1
    shift
    within 60 "${deadheat%/bin/*}/lib/deadheat/deadheat-ir" "$@" >"$work/table" 2>"$work/err" &&
        objcopy -I binary -O elf64-x86-64 --rename-section .data=.deadheat.pairs "$work/table" "$work/table.o" \
            2>"$work/err" || return
    for style in relay sound; do
        # shellcheck disable=SC2086 # options are several words
        "$deadheat" static --style=$style $options --format=json "$work/table.o" >"$work/$style.json" 2>"$work/err" ||
            return
    done
}

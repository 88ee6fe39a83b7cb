#!/bin/sh
# run.sh DEADHEAT - the part of Caper that lives in the program (src/field/escape), without plugin and command: the run file,
# questions that are switched on, what is left when the program is killed, what the system may refuse.
. "$(dirname "$0")/../lib.sh"
lib=$(dirname "$deadheat")/../lib/deadheat
src=$here/../../../src

build() { # PROGRAM FLAGS
    # shellcheck disable=SC2086
    clang-19 -w -O2 -D_GNU_SOURCE -I "$src" $2 "$here/asks.c" "$lib/escape.bc" -fuse-ld=lld -Wl,--build-id \
        -Wl,--whole-archive "$lib/libdeadheat-caper.a" "$lib/libdeadheat-field.a" -Wl,--no-whole-archive -pthread -o "$1" \
        >log 2>&1 || { bad "build-$1" "$(tail -3 log | tr '\n' '|')"; exit 1; }
}
make() { "$here/runfile.py" make run "$@"; }
marks() { "$here/runfile.py" show run; }
observe() { DEADHEAT_CAPER_RUN=run "$@" >out 2>err; status=$?; }

build asks ""
build fixed "-no-pie"
build own "-DOWN_MALLOC -fno-builtin"

# ---- Asleep ----
./asks >out 2>err
same asleep "$?:$(cat out)$(cat err)" "7:asked 0"
ldd ./asks | grep -q deadheat
same nothing-loaded $? 1
(ulimit -v 100000 && exec ./asks) >out 2>err
same asleep-small "$?:$(cat out)$(cat err)" "7:asked 0"

# ---- Awake ----
for p in asks fixed; do
    make $p 110111
    observe ./$p
    same "asked-$p" "$status:$(cat out)$(cat err)" "7:asked 4"
    same "marks-$p" "$(marks)" "started 1 ended 1 tracked 2 escapes 2 untracked 0 trouble 0 marks 010101"
    make $p 000000
    observe ./$p
    same "asked-none-$p" "$status:$(cat out):$(marks)" \
        "7:asked 0:started 1 ended 1 tracked 2 escapes 2 untracked 0 trouble 0 marks 000000"
done
make asks 111111 0
observe ./asks
same not-tracked "$(cat out):$(marks)" "asked 5:started 1 ended 1 tracked 0 escapes 0 untracked 0 trouble 0 marks 111101"
make asks 111111
observe ./asks kill
same killed "$status:$(marks)" "137:started 1 ended 0 tracked 0 escapes 0 untracked 0 trouble 0 marks 011101"
make asks 000010
observe ./asks fork
same forked "$status:$(marks)" "7:started 2 ended 2 tracked 3 escapes 3 untracked 0 trouble 0 marks 000010"
make asks 010000
observe ./asks again
same exec "$status:$(cat out):$(marks)" \
    "7:asked 1:started 2 ended 1 tracked 2 escapes 2 untracked 0 trouble 0 marks 010000"

# A small block behind another: in glibc's heap it has its 16 bytes for itself, elsewhere perhaps not.
make asks 000010
observe ./asks tail
same tail "$(marks)" "started 1 ended 1 tracked 4 escapes 2 untracked 0 trouble 0 marks 000000"
make own 010110
observe ./own tail
like tail-own out "asked 3"
marks >out
like tail-own-marks out "untracked [1-9][0-9]* trouble 0 marks 010110"

# All memory is locked, but not the shadow.
if [ "$(id -u)" = 0 ]; then
    make asks 110111
    observe ./asks lock
    same locked "$status:$(cat out)$(cat err):$(marks)" \
        "7:locked 0, asked 4:started 1 ended 1 tracked 2 escapes 2 untracked 0 trouble 0 marks 010101"
else
    skip locked "the superuser may lock as much as there is"
fi

# ---- What the system refuses ----
# Code that may not become writable is written through /proc/self/mem; without that nothing is asked.
if "$here/mdwe.py" true 2>/dev/null; then
    make asks 111111
    observe "$here/mdwe.py" ./asks
    same no-writable-code "$status:$(cat out)$(cat err):$(marks)" \
        "7:asked 5:started 1 ended 1 tracked 2 escapes 2 untracked 0 trouble 0 marks 011101"
    if unshare -m true 2>/dev/null; then
        make asks 111111
        observe unshare -m sh -c "mount -t tmpfs none /proc && exec '$here/mdwe.py' ./asks"
        same no-patch "$status:$(cat out):$(marks)" \
            "7:asked 0:started 1 ended 1 tracked 2 escapes 2 untracked 0 trouble 2 marks 000000"
        has no-patch-words err "the program's code cannot be changed"
    else
        skip no-patch "only the superuser can hide /proc"
    fi
else
    skip no-writable-code "the kernel has no PR_SET_MDWE"
fi
make asks 111111
(ulimit -v 1000000 && DEADHEAT_CAPER_RUN=run exec ./asks) >out 2>err
same no-shadow "$?:$(cat out):$(marks)" \
    "7:asked 5:started 1 ended 1 tracked 0 escapes 0 untracked 0 trouble 1 marks 111101"
same no-shadow-words "$(wc -l <err)" 1
has no-shadow-why err "there is no room for the shadow" "all memory counts as escaped"

# ---- Files that are not for this run ----
refused() { # NAME WORDS: the program runs as ever, and one sentence says why it is not observed
    observe ./asks
    same "$1" "$status:$(cat out)" "7:asked 0"
    same "$1-one-line" "$(wc -l <err)" 1
    has "$1-words" err "$2" "this run is not observed"
}
make fixed 111111
refused other-build "is for another build of the program"
same other-build-told "$(marks)" "started 0 ended 0 tracked 0 escapes 0 untracked 0 trouble 4 marks 000000"
make asks 1111111
refused other-groups "is for another build of the program"
make asks 111111
truncate -s 90 run && refused truncated "is shorter than it should be"
truncate -s 20 run && refused no-head "is not a file for a run"
head -c 200 /dev/zero >run && refused garbage "is not a file for a run"
: >run && refused empty "is not a file for a run"
rm -f run && refused missing "cannot be opened for writing"
mkdir run && refused directory "cannot be opened for writing"
rmdir run && mkfifo run && refused fifo "is not a file for a run"
rm run
if [ "$(id -u)" != 0 ]; then
    make asks 111111
    chmod a-w run && refused read-only "cannot be opened for writing"
else
    skip read-only "the superuser may write every file"
fi
rm -f run
make asks 111111
printf '\002' | dd of=run bs=1 seek=8 conv=notrunc 2>/dev/null
refused other-version "is of another version of deadheat"

# A program with more rights than who starts it is not told what to write.
make asks 111111
cp asks raised
if [ "$(id -u)" = 0 ] && chown nobody raised 2>/dev/null && chmod u+s raised && chmod a+rx "$work" && chmod a+rw run; then
    observe setpriv --reuid=65533 --clear-groups ./raised
    same more-rights "$status:$(cat out)$(cat err)" "7:asked 0"
else
    skip more-rights "only the superuser can give a program away"
fi

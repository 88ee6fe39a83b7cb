#!/bin/sh
# run.sh DEADHEAT - the runtime among hostile surroundings: little memory, odd layouts, descriptors closed under
# it, programs that fork, exec, daemonise, exhaust and replace. victim.c does the deeds; what counts is that
# the program's own output and status come out right and that what was found is told, or one sentence why not.
. "$(dirname "$0")/../lib.sh"
ulimit -c 0

# expect NAME STATUS RACES OUTPUT [WORDS]: what the last run must have left in rc, out and err. WORDS: deadheat said
# something with these words in it; without, nothing but reports and their summary.
expect() {
    races=$(grep -c '^WARNING: deadheat: data race' err)
    said=$(sed -n '/^deadheat: [0-9]* data race/d; s/^deadheat: //p' err)
    if [ "$rc" -ne "$2" ]; then
        bad "$1" "exit status $rc, not $2: $(head -c 300 out err | tr '\n' '|')"
    elif [ "$races" -ne "$3" ]; then
        bad "$1" "$races reports, not $3: $(head -c 300 err | tr '\n' '|')"
    elif [ "$(cat out)" != "$4" ]; then
        bad "$1" "the output is '$(head -c 300 out)', not '$4'"
    elif [ $# -lt 5 ] && [ -n "$said" ]; then
        bad "$1" "it said: $said"
    elif [ $# -ge 5 ] && ! printf '%s' "$said" | grep -q "$5"; then
        bad "$1" "it said '$said', without '$5'"
    else
        ok "$1"
    fi
}
run() { # COMMAND...
    within 30 "$@" >out 2>err
    rc=$?
}
# in_shell LINE: for limits and redirections
in_shell() { run sh -c "$1"; }
with() { # OPTIONS MODE
    run env DEADHEAT_OPTIONS="$1" ./victim "$2"
}

cd "$work" || exit 1
"$deadheat" cc -g -O1 -pthread -Wno-infinite-recursion "$here/victim.c" -o victim &&
    "$deadheat" cc -g -O1 -pthread -no-pie -Wno-infinite-recursion "$here/victim.c" -o fixed || {
    bad compile "deadheat cc failed"
    exit 1
}

# ---- What the program does to itself ----
for mode in race sigchld wait sixty_four thousand deep longjmp sparse many_mutexes huge_record ancestors atexit tsd handler; do
    run ./victim $mode
    expect $mode 66 1 done
done
run ./victim no_frames
# Which of the two threads is left without, and whether anything else is, depends on what the limit leaves.
expect no_frames 66 1 done 'the runtime itself could get no memory\|deeper than the shadow call stack'
for mode in quiet vfork_exec fork_loop; do
    run ./victim $mode
    expect $mode 3 0 done
done
for mode in close_all setenv; do
    run ./victim $mode
    expect $mode 66 2 done
done
run ./victim close_range
expect close_range 66 3 done
in_shell 'ulimit -n 20; exec ./victim close_all'
expect few-descriptors 66 2 done
in_shell 'ulimit -n 20; exec ./victim no_descriptors'
expect no-descriptors 66 0 done 'the reporter .* cannot be run'
run ./victim daemon
expect daemon 66 2 done
run ./victim exec # the race was before, the status is the new program's
expect exec 3 1 done
run ./victim kill_reporter
if [ "$rc" -eq 77 ]; then skip kill-reporter "$(cat out)"; else
    # Whether it had printed the first race when it was killed is a matter of luck; the second it cannot have.
    first=$(grep -c '^WARNING: deadheat: data race on global .shared\[0\]' err)
    expect kill-reporter 66 "$first" done 'the reporter ended before the program did'
fi
run ./victim chroot
if [ "$rc" -eq 77 ]; then skip chroot "$(cat out)"; else
    expect chroot 66 0 done 'the reporter .* cannot be run'
fi
rmdir /tmp/victim-?????? 2>/dev/null
for mode in overflow overflow_thread; do # a plain SIGSEGV; within passes it on
    in_shell "./victim $mode"
    sed -i '/Segmentation fault/d' err
    expect $mode 139 0 ''
done
run env VICTIM_CONSTRUCTOR=1 ./victim quiet
expect constructor 66 1 done

# ---- Memory and its layout ----
for kb in 1000000 300000; do
    in_shell "ulimit -v $kb; exec ./victim race"
    expect ulimit-v-$kb 66 1 done
done
in_shell 'ulimit -s 100; exec ./victim race'
expect ulimit-s-small 66 1 done
in_shell 'ulimit -v 20000; exec ./victim quiet'
expect ulimit-v-too-small 1 0 '' 'no address space is left for shadow memory'
in_shell 'ulimit -v 200000; exec ./victim eat'
expect ulimit-v-eaten 3 0 done
if setarch -R true 2>/dev/null; then
    for layout in -R -RL -L -X -3; do
        for victim in victim fixed; do
            run setarch $layout ./$victim race
            expect layout$layout-$victim 66 1 done
        done
    done
    in_shell 'ulimit -s unlimited && exec setarch -R ./fixed race'
    expect unlimited-stack-fixed 66 1 done
else
    skip layout "setarch is not permitted"
fi
in_shell 'ulimit -s unlimited && exec ./victim race'
expect unlimited-stack 66 1 done
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    run ./victim quiet
    [ $rc -eq 3 ] || break
done
expect random-layouts 3 0 done

# ---- The world around it ----
if unshare -m sh -c 'umount -l /proc' 2>/dev/null; then
    in_shell "unshare -m sh -c 'umount -l /proc && exec ./victim race'"
    expect without-proc 66 1 done
else
    skip without-proc "umount is not permitted"
fi
if unshare -pf true 2>/dev/null; then
    run unshare -pf ./victim wait
    expect process-1 66 1 done
else
    skip process-1 "unshare is not permitted"
fi
in_shell 'exec ./victim race <&- >&- 2>&-'
expect closed-descriptors 66 0 ''
in_shell 'exec ./victim race 2>&-'
expect closed-stderr 66 0 done
in_shell 'exec ./victim race 2>/dev/full'
expect full-stderr 66 0 done
in_shell '{ ./victim race 2>&1 >out.program; echo $? >status; } | true; cat out.program status'
expect stderr-without-reader 0 0 'done
66'
# What the runtime itself writes must not end a program that writes nothing there.
mkfifo unread
broken='exec 3<>unread 4>unread 3<&-' # nobody reads what goes to 4
in_shell "$broken; DEADHEAT_OPTIONS=reporter=/absent exec ./victim race 2>&4"
expect sentence-without-reader 66 0 done
in_shell "$broken; DEADHEAT_OPTIONS=stats=1 exec ./victim quiet 2>&4"
expect counters-without-reader 3 0 done
in_shell '(ulimit -f 0; DEADHEAT_OPTIONS=output=too_large exec ./victim race 2>&1) | cat >&2; echo done'
expect output-beyond-limit 0 1 done 'cannot be written any more'
in_shell 'sh -c "ulimit -f 0; DEADHEAT_OPTIONS=output=too_large exec ./victim race 2>too_large" | cat'
expect report-beyond-limit 0 0 done
# The reporter outlives the program; whoever reads to the end of its output has all of it.
in_shell '{ { ./victim sigpipe; echo $? >status; } 2>&3 | true; } 3>&1 | grep -c ^WARNING:; cat status'
expect sigpipe 0 0 '1
141'
in_shell "cd / && exec '$work/victim' race"
expect another-directory 66 1 done

# Without the barrier a collection would take ids away from threads that hold them.
with stats=1 filter
expect collected 3 0 done '^[1-9][0-9]* collections'
run env DEADHEAT_OPTIONS=stats=1 VICTIM_FILTER=1 ./victim filter
expect barrier-forbidden 3 0 done '^0 collections'

# ---- Options ----
with on_race=stop race
case $rc in 132 | 134) rc=134 ;; esac # a trap or an abort: both leave a core
expect stop 134 1 '' 'stopped at the first race'
with on_race=stop quiet
expect stop-without-race 3 0 done
echo race:bump_0 >suppressions
with suppressions=suppressions race
expect suppressed 3 0 done
with on_race=stop:suppressions=suppressions setenv
case $rc in 132 | 134) rc=134 ;; esac
expect stop-after-suppressed 134 1 '' 'stopped at the first race'
with exitcode=0 race
expect own-status 3 1 done
with output=/absent/file race
expect unwritable-output 66 1 done 'cannot be opened: no such file'
with output=/dev/full race
expect full-output 66 1 done 'cannot be written any more'
with exitcod=1 race
expect unknown-option 2 0 '' "did you mean 'exitcode'"
with help=1 quiet
rc=$rc:$(grep -c on_race= err)
if [ "$rc" = 0:1 ]; then ok help; else bad help "got $rc"; fi
with output=records daemon
if [ "$("$deadheat" report records 2>&1 | grep -c '^WARNING:')" -eq 2 ]; then ok output-of-two-processes; else
    bad output-of-two-processes "$(head -c 300 records)"
fi

# ---- Company ----
cat >preload.c <<'EOF'
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void start(void)
{
    char *p = malloc(10);
    strcpy(p, "hi");
    free(p);
}
EOF
clang-19 -shared -fPIC preload.c -o preload.so && LD_PRELOAD=$work/preload.so run ./victim race
expect preloaded-library 66 1 done
for c in own_malloc.c reopen.c static_cxx.cpp; do
    name=${c%.*}
    case $c in *.cpp) cc=c++ ;; *) cc=cc ;; esac
    "$deadheat" $cc -g -O1 -pthread $([ $cc = c++ ] && echo -static-libstdc++ -static-libgcc) "$here/$c" -o $name ||
        bad $name "it does not compile"
done
run ./own_malloc
expect own-malloc 66 1 done
for how in "$deadheat cc" clang-19; do
    $how -g -O1 -shared -fPIC "$here/allocator.c" -o liballocator.so &&
        "$deadheat" cc -g -O1 -pthread "$here/allocating.c" -o allocating -L. -lallocator -Wl,-rpath,"$work" ||
        bad allocator "it does not compile"
    run ./allocating
    expect "allocator-in-library-$(basename "${how%% *}")" 3 0 done
done
run ./static_cxx
expect static-libstdc++ 3 0 done
"$deadheat" cc -g -O1 -shared -fPIC "$here/reopened.c" -o reopened.so || bad reopened "it does not compile"
run ./reopen ./reopened.so
expect dlopen-dlclose-loop 3 0 done
# What a plain library did went unseen, though it is gone at the end.
clang-19 -shared -fPIC "$here/reopened.c" -o plain.so && run env DEADHEAT_OPTIONS=stats=1 ./reopen ./plain.so
expect plain-library-closed 3 0 done '1 loaded modules that were not compiled by deadheat'

exit $failed

#!/bin/sh
# run.sh DEADHEAT - `make install` below any prefix, and where a program that is run on its own finds the reporter:
# next to the program, on the PATH, by DEADHEAT_HOME, where deadheat was when it was compiled, in this order.
. "$(dirname "$0")/../lib.sh"

root=$(cd "$here/../../.." && pwd)
cd "$work" || exit 1
cp "$root/examples/demo/hits.c" .
prefix="$work/any where"
# The tree is built: it must not be touched while other tests use it.
install() { make -s -C "$root" -o all install BUILD="$BUILD" "$@" >log 2>&1 || { bad install "$(tail -5 log)" && exit 1; }; }
install PREFIX="$prefix"
same installed "$(cd "$prefix" && ls -d bin/deadheat bin/deadheat-cc include/deadheat/lard.h lib/deadheat share/man/man1 | tr '\n' ' ')" \
    "bin/deadheat bin/deadheat-cc include/deadheat/lard.h lib/deadheat share/man/man1 "
# Debug information does name the directory of the build; nothing that is read when deadheat is used may.
same relocatable "$(grep -rlIF -e "$BUILD" -e "$root" "$prefix")" ""

# ---- From there, and after the whole tree has moved ----
"$prefix/bin/deadheat-cc" -g -O1 -pthread hits.c -o hits || bad compile "deadheat-cc failed"
./hits >out 2>err
same compiled "$?" 66
has compiled-report err "WARNING: deadheat: data race on global \`total\`"
install PREFIX=/opt/x DESTDIR="$work/staged"
mv "$work/staged/opt/x" "$work/moved"
"$work/moved/bin/deadheat" cc -g -O1 -pthread hits.c -o moved-hits && ./moved-hits >out 2>err
same moved "$?" 66
has moved-report err "WARNING: deadheat: data race on global \`total\`"

# ---- The order of the places ----
stand_in() { # NAME DIRECTORY: there is a deadheat there, which tells its name
    mkdir -p "$2" && printf '#!/bin/sh\necho %s >>"%s/who"\nexec "%s/moved/bin/deadheat" "$@"\n' "$1" "$work" "$work" >"$2/deadheat" &&
        chmod +x "$2/deadheat"
}
who() { # NAME EXPECTED [VARIABLE=VALUE...]: the program prog/libexec/hits races and is reported by EXPECTED
    name=$1 expected=$2
    shift 2
    : >who
    env "$@" prog/libexec/hits >out 2>err
    same "$name" "$?:$(cat who)" "66:$expected"
}
mkdir -p prog/libexec && cp hits prog/libexec/
stand_in beside prog/libexec
stand_in in-bin prog/bin
stand_in on-path a/path
stand_in by-home home/bin
stand_in by-option option
everywhere="PATH=relative:$work/a/path:$PATH DEADHEAT_HOME=$work/home"
# shellcheck disable=SC2086 # two words
{
    who option by-option $everywhere DEADHEAT_OPTIONS=reporter="$work/option/deadheat"
    who beside beside $everywhere
    rm prog/libexec/deadheat && mkdir prog/libexec/deadheat # a directory is no program
    who in-bin in-bin $everywhere
    chmod -x prog/bin/deadheat && rm -r prog/bin
    who on-path on-path $everywhere
    rm a/path/deadheat
    (cd a && stand_in relative relative)
    who by-home by-home $everywhere
}
who compiled-in "" DEADHEAT_HOME=home PATH=/nowhere # a stand-in would have told its name
has compiled-in-report err "WARNING: deadheat: data race"
rm "$prefix/bin/deadheat"
who relative-home "" DEADHEAT_HOME=home PATH=/nowhere
has nowhere err "the reporter (the deadheat program) cannot be run" "DEADHEAT_HOME" "deadheat: data race: write at hits+0x"
lacks nowhere-silent err WARNING
who bad-option "" PATH="$work/a/path" DEADHEAT_HOME="$work/home" DEADHEAT_OPTIONS=reporter=/nonexistent
exit $failed

# Sourced by run.sh: programs built with --dh-mode=field, and bitcode.

cc="$work/bin/deadheat-cc --dh-mode=field"
cxx="$work/bin/deadheat-c++ --dh-mode=field"

# Two files and an archive that GNU ar made of a third; the race is between two of them.
mkdir two
cat >two/main.c <<'END'
#include <pthread.h>
#include <stdio.h>
int count;
void bump(void);
int from_archive(void);
static void *worker(void *arg)
{
    bump();
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    count++;
    pthread_join(t, NULL);
    printf("%d\n", count + from_archive());
    return 0;
}
END
cat >two/bump.c <<'END'
extern int count, total;
void bump(void)
{
    count++;
    total++;
}
END
cat >two/lib.c <<'END'
int total;
int from_archive(void)
{
    return total;
}
END

# built NAME PROGRAM OUTPUT: it runs, says nothing else, and its table has the race on `count` between the files.
built() {
    out=$("$2" 2>&1)
    if [ "$out" != "$3" ]; then
        bad "$1-runs" "it printed '$out'"
        return
    fi
    ok "$1-runs"
    run --style=sound --format=json "$2"
    same "$1-table" "$status $(cat err)$(json 'print(sum(v["name"] == "count" for v in d["variables"]), any(
        f["location"]["name"] == "count" and {a["stack"][0]["function"] for a in f["accesses"]} == {"bump", "main"}
        for f in d["findings"]))')" "0 1 True"
}

for level in 0 1 2 3; do
    (
        cd two && rm -f ./*.o ./*.a &&
            for f in main bump lib; do $cc -O$level -c $f.c || exit 1; done &&
            ar rcs libtotal.a lib.o bump.o && $cc -O$level -pthread -o "prog$level" main.o -L. -ltotal
    ) >log 2>&1
    same "build-O$level" "$? $(cat log)" "0 "
    built "archive-O$level" "./two/prog$level" 3
done
(cd two && $cc -O2 -pthread -o at-once main.c bump.c lib.c) >log 2>&1
same build-at-once "$? $(cat log)" "0 "
built at-once ./two/at-once 3

# What the user says about link-time optimisation and linkers does not matter; -s and --gc-sections keep the table.
(cd two && $cc -O2 -flto=thin -fuse-ld=bfd -fno-lto -s -ffunction-sections -Wl,--gc-sections -pthread -o odd main.c bump.c lib.c) \
    >log 2>&1
same build-odd-flags "$? $(cat log)" "0 "
built odd-flags ./two/odd 3
same plain-code "$(nm two/prog2 | grep -c __dh_)" 0

# A shared object is code outside the program, and links as ever.
(cd two && $cc -O2 -fPIC -shared -Wl,--no-undefined -o libtotal.so lib.c &&
    $cc -O2 -pthread -o shared main.c bump.c ./libtotal.so) >log 2>&1
same build-shared "$? $(cat log)" "0 "
out=$(cd two && ./shared 2>&1)
same shared-runs "$out" 3
(cd two && $cc -r -o joined.o main.o bump.o lib.o && $cc -pthread -o joined joined.o && ./joined) >log 2>&1
same relocatable "$? $(cat log)" "0 3"

# C++.
cat >thread.cpp <<'END'
#include <cstdio>
#include <thread>
struct Box {
    int filled = 0;
    void fill() { filled++; }
};
static Box box;
int main()
{
    std::thread t([] { box.fill(); });
    box.fill();
    t.join();
    std::printf("%d\n", box.filled);
}
END
for level in 0 2; do
    $cxx -O$level -pthread -o "thread$level" thread.cpp >log 2>&1
    same "cxx-build-O$level" "$? $(cat log)" "0 "
    same "cxx-runs-O$level" "$("./thread$level")" 2
    run --style=sound "./thread$level"
    has "cxx-table-O$level" out 'box'
done

# A program without threads.
$cc -O1 -o single empty.c >log 2>&1
run ./single
same no-threads "$status $(head -1 out && cat err)" "0 ./single: no thread is ever created"

# What is wrong with a compile or a link is said in one sentence.
complains() { # NAME WORDS COMMAND
    name=$1 words=$2
    shift 2
    "$@" >out 2>err
    status=$?
    if [ $status = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$words" err; then
        ok "$name"
    else
        bad "$name" "status $status, $(head -3 err | tr '\n' '|')"
    fi
}
complains bad-mode "there is no mode 'files'; --dh-mode is 'full', 'field' or 'caper'" "$work/bin/deadheat-cc" --dh-mode=files empty.c
complains unknown-flag "did you mean '--dh-mode=field'" "$work/bin/deadheat-cc" --dh-mod=field empty.c
complains static-link "'-static' is not supported" "$work/bin/deadheat-cc" --dh-mode=field -static empty.c
mkdir nolld && for tool in clang-19 ld; do ln -s "$(command -v $tool)" nolld/; done
complains no-lld "cannot find ld.lld-19" env PATH="$work/nolld" "$work/bin/deadheat-cc" --dh-mode=field empty.c
"$work/bin/deadheat-cc" -g -pthread -o full queue.c && refused full-build "was built to be run" ./full

# autoconf, automake and libtool: a convenience library, a static one, and a program.
if command -v autoreconf >/dev/null && command -v libtoolize >/dev/null; then
    mkdir -p auto && cp two/*.c auto/
    cat >auto/configure.ac <<'END'
AC_INIT([auto], [1])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AM_PROG_AR
AC_PROG_CC
LT_INIT([disable-shared])
AC_SEARCH_LIBS([pthread_create], [pthread])
AC_C_BIGENDIAN
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
    cat >auto/Makefile.am <<'END'
noinst_LTLIBRARIES = libbump.la
libbump_la_SOURCES = bump.c
lib_LTLIBRARIES = libtotal.la
libtotal_la_SOURCES = lib.c
libtotal_la_LIBADD = libbump.la
bin_PROGRAMS = prog
prog_SOURCES = main.c
prog_LDADD = libtotal.la
END
    (cd auto && autoreconf -i && ./configure CC="$cc" CFLAGS=-O2 && make) >log 2>&1
    status=$?
    if [ $status = 0 ]; then ok autotools-build; else bad autotools-build "$(tail -3 log | tr '\n' '|')"; fi
    built autotools ./auto/prog 3
else
    echo "skip cli/static/autotools: autoconf, automake or libtool is missing"
fi

# Bitcode: taken together, and refused in one sentence where it is not what it should be.
for f in main bump lib; do clang-19 -O1 -g -emit-llvm -c two/$f.c -o $f.bc || exit 1; done
run --style=sound --format=json main.bc bump.bc lib.bc
same bitcode "$status $(cat err)$(json 'print(sum(v["name"] == "count" for v in d["variables"]))')" "0 1"
same bitcode-as-linked "$(json 'print(d["no_threads"])')" False
clang-19 -O1 -g -emit-llvm -c empty.c -o empty.bc
run empty.bc
same bitcode-no-threads "$status $(head -1 out)" "0 empty.bc: no thread is ever created"
head -c 1000 main.bc >cut.bc
refused bitcode-cut "cut.bc" cut.bc
{ head -c 400 main.bc && head -c 400 /dev/zero && tail -c +801 main.bc; } >bent.bc
refused bitcode-bent "bent.bc" bent.bc
# The identification block's last word begins with the format's epoch, which a later LLVM may raise.
python3 -c 'import sys
b = bytearray(open("main.bc", "rb").read())
b[28] ^= 8
open("later.bc", "wb").write(b)'
refused bitcode-version "LLVM" later.bc
refused bitcode-twice "main.bc" main.bc main.bc
refused bitcode-mixed "programs are looked at one at a time" main.bc ./two/prog2

# On a terminal the phases are shown, one in place of the other, and leave nothing behind.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then # it is there, and so are terminals
    TERM=xterm script -qec "'$deadheat' static --summary --color=never main.bc bump.bc lib.bc" /dev/null >typescript </dev/null
    has progress-phase typescript 'deadheat static: points-to'
    same progress-gone "$(tr -d '\r' <typescript | sed -n 's/.*\x1b\[K//; s/^\(main.bc\) .* that may race.*/\1/p')" main.bc
fi

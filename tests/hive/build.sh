#!/bin/sh
# build.sh DEADHEAT OBJ own|asan DIRECTORY - a hive that watches itself: its program built by `deadheat cc` (own), or with
# AddressSanitizer and UndefinedBehaviorSanitizer (asan), into DIRECTORY; with DEADHEAT_LIBDIR set to it, `deadheat hive` is that
# program. Of the other rooms it takes what OBJ has.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
obj=$2
case $3 in
own) cc="$1 cc" ;;
*) cc="clang-19 -fsanitize=address,undefined -fno-sanitize-recover=all" ;;
esac
mkdir -p "$4"
cd "$4"
"$root/scripts/embed" dh_hive_openapi "$root/src/hive/openapi.json" openapi.c
# shellcheck disable=SC2086 # several words
$cc -std=gnu17 -g -O1 -D_GNU_SOURCE -DDH_VERSION=\"0\" -I"$root/src" -I"$root/include" -I"$(pg_config --includedir)" -c openapi.c \
    "$root"/src/hive/*.c "$root"/src/store/*.c "$root"/src/cli/hive_*.c "$root/src/cli/usage.c" "$root/src/util/arena.c" "$root/src/util/map.c"
# shellcheck disable=SC2086
$cc ./*.o -Wl,--start-group "$obj"/src/caper/*.a "$obj"/src/report/*.a "$obj"/src/util/*.a "$obj"/src/base/*.a -Wl,--end-group \
    -lmicrohttpd -lcurl -lgnutls -lsqlite3 -lpq -ljansson -ldw -lelf -lzstd -lxxhash -lm -pthread -o deadheat-hive

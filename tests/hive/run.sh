#!/bin/sh
# run.sh DEADHEAT [OBJ] - the hive as a service: real servers on loopback, with SQLite and with a PostgreSQL server of its own, which runs
# as an unprivileged user. hive.py has the cases. Then a hive that was built by `deadheat cc` serves a crowd: own.py.
# HIVE=own or HIVE=asan has all cases served by a hive that watches itself (build.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
work=$(mktemp -d) || exit 1
pg=
stop() {
    [ -n "$pg" ] && python3 "$here/postgres.py" "$work/pg" stop >/dev/null 2>&1
    rm -rf "$work"
}
trap stop EXIT
cd "$work" || exit 1

for v in "prog " "prog -DLATER" "many "; do
    # shellcheck disable=SC2086 # no flag, or one
    "$deadheat" cc --dh-mode=field -g -O1 -pthread ${v#* } "$here/${v% *}.c" -o "${v% *}${v#* }" >cc.log 2>&1 ||
        { echo "FAIL hive/build: $(head -3 cc.log | tr '\n' '|')"; exit 1; }
done
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 >/dev/null 2>&1 || { echo "FAIL hive/certificate: openssl"; exit 1; }

[ -n "${HIVE:-}" ] || "$here/carry.sh" "$deadheat"
[ -n "${HIVE:-}" ] || "$here/clock.sh" "$deadheat" "$work/prog"

if [ -n "${HIVE:-}" ]; then
    "$here/build.sh" "$deadheat" "$2" "$HIVE" "$work/built" >build.log 2>&1 ||
        { echo "FAIL hive/build: $(head -3 build.log | tr '\n' '|')"; exit 1; }
    export DEADHEAT_LIBDIR="$work/built"
fi

python3 "$here/hive.py" "$deadheat" sqlite "$work/hive.db" "$work/pairs.db"

chmod 755 "$work" # where PostgreSQL's user has to get
if python3 "$here/postgres.py" "$work/pg" make >pg.log 2>&1; then
    pg=yes
    python3 "$here/hive.py" "$deadheat" postgres "postgres://hive@/postgres?host=$work/pg" "python3 $here/postgres.py $work/pg restart"
else
    echo "FAIL hive/postgres: $(tail -3 pg.log pg/log 2>/dev/null | tr '\n' '|')"
fi
[ -z "${HIVE:-}" ] && [ -d "${2:-}" ] && python3 "$here/own.py" "$deadheat" "$2"
exit 0

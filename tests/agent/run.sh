#!/bin/sh
# run.sh DEADHEAT OBJ - the user's side of the hive, with real hives on loopback and real programs. agent.py has the cases.
set -u
here=$(cd "$(dirname "$0")" && pwd)
deadheat=$(readlink -f "${DEADHEAT:-$1}")
tools=$(readlink -f "${BUILD:-${2%/obj}}")/obj/tests/agent
work=$(mktemp -d /tmp/dh-agent.XXXXXX) || exit 1
trap 'umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
unset DEADHEAT_OPTOUT

clang-19 -g -O1 -c "$here/plain.c" -o plain.o &&
    "$deadheat" cc --dh-mode=field -g -O1 -pthread "$here/prog.c" -o prog >cc.log 2>&1 &&
    "$deadheat" cc --dh-mode=field -g -O1 -pthread -DWITH_PLAIN "$here/prog.c" plain.o -o forged >>cc.log 2>&1 &&
    "$deadheat" cc --dh-mode=field -g -O1 -pthread -DORDERED "$here/prog.c" -o ordered >>cc.log 2>&1 &&
    "$deadheat" cc --dh-mode=field -g -O1 -pthread -DDIRECT "$here/prog.c" -o direct >>cc.log 2>&1 &&
    "$deadheat" cc --dh-mode=field -g -O1 -pthread -DAPART "$here/prog.c" -o apart >>cc.log 2>&1 ||
    { echo "FAIL agent/build: $(head -3 cc.log | tr '\n' '|')"; exit 1; }
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 >/dev/null 2>&1 || { echo "FAIL agent/certificate: openssl"; exit 1; }

PYTHONPATH="$here/../hive" PYTHONDONTWRITEBYTECODE=1 python3 "$here/agent.py" "$deadheat" "$tools"

#!/bin/sh
# run.sh DEADHEAT OBJ - trials of `chase --all` on some racy programs of bench/programs: every race that fasttrack finds there is
# confirmed, and no other.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "$(dirname "$1")/.." && pwd)
export BUILD
exec "$here/../../../bench/chase" --check

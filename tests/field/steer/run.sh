#!/bin/sh
# run.sh DEADHEAT OBJ - what steering must bring out: the races of RaceMob's bench1 to bench4, which precise detectors miss in the
# order that hides them; and the crash or hang of every program in bench/programs/defects, again when it is replayed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "$(dirname "$1")/.." && pwd)
export BUILD
exec "$here/../../../bench/steer" --check

#!/bin/sh
# run.sh DEADHEAT OBJ - every detector on recordings of the papers' programs at their smallest scale: the number of variables
# each reports is that of bench/programs/EXPECTED.tsv, and the patterns that the papers show hold.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "$(dirname "$1")/.." && pwd)
export BUILD
exec "$here/../../bench/compare" --check ${PROGRAMS:+--programs "$PROGRAMS"}

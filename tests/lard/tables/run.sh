#!/bin/sh
# run.sh DEADHEAT - tables 2 and 3 of the LARD paper on examples/lardvm: with all that lard.h lets it say, deadheat finds
# exactly the racy accesses that the virtual machine's own judge finds in the same execution; without any one of
# the five extensions it is wrong somewhere.
#
# PROGRAMS="churn relay" chooses programs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "$(dirname "$1")/.." && pwd)
export BUILD
# shellcheck disable=SC2086 # a list of names
exec "$here/../../../examples/lardvm/tables" --check ${PROGRAMS:+--programs $PROGRAMS}

#!/bin/sh
# Counts the instructions of one step without hardware counters: callgrind runs PROGRAM --steps COUNT FILE for two
# counts and counts inside od_sim_step() and od_sim_repartition() only; the difference leaves out what the first steps
# do once.
#   instructions.sh PROGRAM FILE [FEW MANY]
set -eu
program=$1
file=$2
few=${3:-20}
many=${4:-120}
command -v valgrind >/dev/null || exit 3

count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=od_sim_step \
    --toggle-collect=od_sim_repartition \
    "$program" --steps "$1" "$file" 2>&1 >/dev/null |
    awk '/Collected :/ { n = $NF } END { if (n == "") exit 1; print n }'
}
first=$(count "$few")
second=$(count "$many")
awk -v a="$first" -v b="$second" -v n=$((many - few)) 'BEGIN { if (b <= a) exit 1; printf "%.0f\n", (b - a) / n }'

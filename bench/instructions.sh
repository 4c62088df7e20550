#!/bin/sh
# Counts the instructions of one step without hardware counters: callgrind runs PROGRAM --steps COUNT ARG... for two
# counts and counts only inside the given functions. The difference excludes the work that is done once in the first
# steps.
#   instructions.sh FEW MANY FUNCTION[,FUNCTION...] PROGRAM ARG...
set -eu
few=$1
many=$2
functions=$3
program=$4
shift 4
command -v valgrind >/dev/null || exit 3

toggles=
for name in $(echo "$functions" | tr , ' '); do toggles="$toggles --toggle-collect=$name"; done

count() {
  steps=$1
  shift
  # shellcheck disable=SC2086
  valgrind --tool=callgrind --callgrind-out-file=/dev/null $toggles "$program" --steps "$steps" "$@" 2>&1 >/dev/null |
    awk '/Collected :/ { n = $NF } END { if (n == "") exit 1; print n }'
}
first=$(count "$few" "$@")
second=$(count "$many" "$@")
awk -v a="$first" -v b="$second" -v n=$((many - few)) 'BEGIN { if (b <= a) exit 1; printf "%.0f\n", (b - a) / n }'

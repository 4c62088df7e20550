#!/bin/sh
# Writes the machine file of a circuit of N volumes: circuit.sh N > circuit.yaml
#
# A line of volumes with orifices between them. A third of the volumes are in side branches of ten, which begin at a junction. Rungs
# join branches to the line again, and the end of the line joins its beginning, so that the matrix is not a band matrix. Every fifth
# volume leaks to the tank. A valve that opens and closes feeds the circuit.
set -eu
case "${1:-}" in
'' | *[!0-9]* | 0*)
  echo "usage: $0 N > circuit.yaml    (N volumes, at least 1)" >&2
  exit 2
  ;;
esac
awk -v n="$1" 'BEGIN {
  printf "# A circuit of %d volumes; written by circuit.sh %d.\n", n, n
  printf "machine: Circuit of %d volumes\n", n
  print "oil: {density: 870 kg/m^3, law: linear, kp: 1400 MPa, k0: 5}"
  print "tanks: {T: {pressure: 1 bar}}\nsources: {S: {pressure: 200 bar}}"
  print "inputs: {feed: {sine: {offset: 0.6, amplitude: 0.3, frequency: 5 Hz}}}"

  print "volumes:"
  for (i = 1; i <= n; i++) printf "  V%d: {volume: %.2f L}\n", i, 0.2 + 0.1 * (i % 7)

  if (n >= 20) {
    printf "junctions: ["
    for (i = 20; i <= n; i += 30) printf "%sJ%d", (i > 20 ? ", " : ""), i
    print "]"
  }

  print "orifices:\n  feed_valve: {between: [S, V1], area: 20 mm^2, discharge: 0.6, opening: feed}"
  last = 1  # of the line
  for (i = 2; i <= n; i++) {
    branch = i % 30 >= 20
    from = branch && i % 30 > 20 ? i - 1 : last
    begin = "V" from
    if (i % 30 == 20) {
      begin = "J" i
      printf "  tee%d: {between: [V%d, J%d], area: 15 mm^2, discharge: 0.6}\n", i, from, i
      printf "  drain%d: {between: [J%d, T], area: 0.1 mm^2, discharge: 0.6}\n", i, i
    }
    printf "  along%d: {between: [%s, V%d], area: %.1f mm^2, discharge: 0.6}\n", i, begin, i, 10 + i % 4
    if (branch && i % 30 == 29) printf "  rung%d: {between: [V%d, V%d], area: 3 mm^2, discharge: 0.6}\n", i, i, from - 12
    if (!branch) last = i
  }
  if (last > 2) printf "  ring: {between: [V%d, V1], area: 2 mm^2, discharge: 0.6}\n", last
  print "leaks:"
  for (i = 1; i <= n; i += 5) printf "  seep%d: {between: [V%d, T], slope: 2e-13 m^3/(s Pa)}\n", i, i

  print "initial:"
  for (i = 1; i <= n; i++) printf "  V%d.pressure: %d bar\n", i, 60 + i % 11
  printf "run: {time: 0.2 s, step: 0.2 ms, outputs: [V1.pressure, V%d.pressure]}\n", n
}'

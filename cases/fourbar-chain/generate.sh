#!/bin/sh
# Writes the machine file of an N-window four-bar chain: generate.sh N > chain.yaml
set -eu
case "${1:-}" in
'' | *[!0-9]* | 0*)
  echo "usage: $0 N > chain.yaml    (N windows, at least 1)" >&2
  exit 2
  ;;
esac
awk -v n="$1" 'BEGIN {
  printf "# A chain of %d four-bar windows; written by generate.sh %d.\n", n, n
  printf "machine: Four-bar chain, N = %d\n", n
  print "gravity: [0, -9.81 m/s^2]\n"

  print "ground:\n  points:"
  for (i = 0; i <= n; i++) printf "    g%d: [%d m, 0]\n", i, i

  print "\nbodies:"
  for (i = 0; i <= n; i++) printf "  bar%d: {beam: {mass: 1 kg, length: 1 m}}\n", i
  for (i = 0; i < n; i++) printf "  coupler%d: {beam: {mass: 1 kg, length: 1 m}}\n", i

  print "\njoints:"
  for (i = 0; i <= n; i++) printf "  A%d: {type: revolute, between: [ground.g%d, bar%d.start]}\n", i, i, i
  for (i = 0; i < n; i++) printf "  B%d: {type: revolute, between: [bar%d.end, coupler%d.start]}\n", i, i, i
  for (i = 0; i < n; i++)
    printf "  C%d: {type: revolute, between: [coupler%d.end, bar%d.end], cut: true}\n", i, i, i + 1

  # Hung at 30 degrees from the vertical, couplers horizontal: the swing stays away from the singular position, in which
  # bars and couplers lie in one line.
  print "\ninitial:"
  print "  A0.angle: -60 deg"
  for (i = 1; i <= n; i++) printf "  A%d.angle: about -60 deg\n", i
  for (i = 0; i < n; i++) printf "  B%d.angle: about 60 deg\n", i

  print "\nrun: {time: 5 s, step: 5 ms, outputs: [A0.angle, A0.rate, A" n ".angle, energy.balance]}"
}'

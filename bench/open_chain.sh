#!/bin/sh
# Writes the machine file of an open chain of N beams: open_chain.sh N planar|spatial > chain.yaml
#
# It stands on the ground at one end and vibrates, without weight, so that its parts move alike whatever its length. Every joint has a
# spring and a damper; in space the axes of neighbours stand across each other.
set -eu
case "${1:-}" in
'' | *[!0-9]* | 0*) set -- ;;
esac
case "${2:-}" in
planar | spatial) ;;
*)
  echo "usage: $0 N planar|spatial > chain.yaml    (N joints, at least 1)" >&2
  exit 2
  ;;
esac
awk -v n="$1" -v space="$2" 'BEGIN {
  printf "# An open chain of %d beams; written by open_chain.sh %d %s.\n", n, n, space
  printf "machine: Open %s chain of %d joints\n", space, n
  print "bodies:"
  for (i = 1; i <= n; i++) printf "  link%d: {cylinder: {mass: 1 kg, length: 0.1 m, radius: 20 mm}}\n", i
  print "\njoints:"
  for (i = 1; i <= n; i++) {
    from = i == 1 ? "ground" : sprintf("link%d.end", i - 1)
    axis = space == "planar" || i % 2 ? "[0, 0, 1]" : "[0, 1, 0]"
    printf "  J%d: {type: revolute, between: [%s, link%d.start], axis: %s, stiffness: 5 N m/rad, damping: 0.5 N m s/rad}\n", i, from, i, axis
  }
  print "\ninitial:"
  for (i = 1; i <= n; i++) printf "  J%d.angle: %.4f rad\n", i, 0.1 * cos(i)
  printf "run: {time: 0.2 s, step: 1 ms, outputs: [J1.angle, J%d.angle]}\n", n
}'

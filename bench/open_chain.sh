#!/bin/sh
# Writes the machine file of an open chain of N beams: open_chain.sh N planar|spatial [hanging] > chain.yaml
#
# The chain is fixed to the ground at one end and vibrates without gravity, so that its motion does not depend on its length. Every
# joint has a spring and a damper; in space the axes of adjacent joints are perpendicular. A hanging chain has weight and swings: a
# longer chain moves more violently and needs more iterations per step.
set -eu
case "${1:-}" in
'' | *[!0-9]* | 0*) set -- ;;
esac
case "${2:-}" in
planar | spatial) ;;
*)
  echo "usage: $0 N planar|spatial [hanging] > chain.yaml    (N joints, at least 1)" >&2
  exit 2
  ;;
esac
awk -v n="$1" -v space="$2" -v hanging="${3:-}" 'BEGIN {
  printf "# An open chain of %d beams; written by open_chain.sh %d %s.\n", n, n, space
  printf "machine: Open %s chain of %d joints\n", space, n
  if (hanging != "") print "gravity: [0, -9.81 m/s^2, 0]\n"
  print "bodies:"
  for (i = 1; i <= n; i++) printf "  link%d: {cylinder: {mass: 1 kg, length: 0.1 m, radius: 20 mm}}\n", i
  print "\njoints:"
  for (i = 1; i <= n; i++) {
    from = i == 1 ? "ground" : sprintf("link%d.end", i - 1)
    axis = space == "planar" || i % 2 ? "[0, 0, 1]" : "[0, 1, 0]"
    printf "  J%d: {type: revolute, between: [%s, link%d.start], axis: %s, stiffness: 5 N m/rad, damping: 0.5 N m s/rad}\n", i, from, i, axis
  }
  print "\ninitial:"
  for (i = 1; i <= n; i++) printf "  J%d.angle: %.4f rad\n", i, hanging != "" && i == 1 ? -1.2 : 0.1 * cos(i)
  printf "run: {time: 0.2 s, step: 1 ms, outputs: [J1.angle, J%d.angle]}\n", n
}'

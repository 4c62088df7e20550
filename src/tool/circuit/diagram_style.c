// The style sheet of circuit diagrams. All colors are custom properties, so that a page can replace them.
#include <stdio.h>
#include <string.h>

#include "circuit/diagram.h"

#define LIGHT                                                                                          \
  "--c-paper:#fff;--c-ink:#1c2430;--c-soft:#5b6675;--c-fill:#fff;--c-metal:#c9d0d9;--c-frame:#f6f8fa;" \
  "--c-edge:#c3cbd5;--c-supply:#b8261b;--c-work:#1b4f9c;--c-feed:#7a3a96;--c-sense:#a35c00;"           \
  "--c-loop-a:#1b4f9c;--c-loop-b:#0b7a6f;--c-tank:#6b7685;--c-signal:#0b6b3a"
#define DARK                                                                                                 \
  "--c-paper:#12161c;--c-ink:#dfe5ec;--c-soft:#9aa6b4;--c-fill:#1b212a;--c-metal:#465160;--c-frame:#171c23;" \
  "--c-edge:#3a4452;--c-supply:#ff7a6b;--c-work:#6fa8ff;--c-feed:#c792ea;--c-sense:#f0ae4e;"                 \
  "--c-loop-a:#6fa8ff;--c-loop-b:#4fc9ba;--c-tank:#8a96a5;--c-signal:#5fcf95"

#define RULES                                                                                                                  \
  ".circuit text{font-family:'Liberation Sans',Arial,'Helvetica Neue',system-ui,sans-serif;font-size:10px;fill:var(--c-soft)}" \
  ".circuit .paper{fill:var(--c-paper)}.circuit .hit{fill:transparent}"                                                        \
  ".circuit .ink,.circuit .outline,.circuit .tap{fill:none;stroke:var(--c-ink);stroke-width:1.2;stroke-linejoin:round}"        \
  ".circuit .tap{stroke-width:1;stroke-dasharray:3 2}"                                                                         \
  ".circuit .body,.circuit .box{fill:var(--c-fill);stroke:var(--c-ink);stroke-width:1.2;stroke-linejoin:round}"                \
  ".circuit .rod{fill:var(--c-fill);stroke:var(--c-ink);stroke-width:1}"                                                       \
  ".circuit .piston{fill:var(--c-metal);stroke:var(--c-ink);stroke-width:1.2}"                                                 \
  ".circuit .solid{fill:var(--c-ink)}.circuit .chamber{fill:var(--c-frame)}"                                                   \
  ".circuit .scale{fill:none;stroke:var(--c-soft);stroke-width:.8}.circuit .marker{fill:var(--c-ink)}"                         \
  ".circuit .line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}"                                      \
  ".circuit .line.pilot,.circuit .line.drain{stroke-width:1.2;stroke-dasharray:4 2.5;stroke-linecap:butt}"                     \
  ".circuit .line.supply{stroke:var(--c-supply)}.circuit .line.work{stroke:var(--c-work)}"                                     \
  ".circuit .line.feed{stroke:var(--c-feed)}.circuit .line.sense{stroke:var(--c-sense)}"                                       \
  ".circuit .line.loop-a{stroke:var(--c-loop-a)}.circuit .line.loop-b{stroke:var(--c-loop-b)}"                                 \
  ".circuit .line.tank{stroke:var(--c-ink);stroke-width:1.2}"                                                                  \
  ".circuit .dot.supply{fill:var(--c-supply)}.circuit .dot.work{fill:var(--c-work)}"                                           \
  ".circuit .dot.feed{fill:var(--c-feed)}.circuit .dot.sense{fill:var(--c-sense)}"                                             \
  ".circuit .dot.loop-a{fill:var(--c-loop-a)}.circuit .dot.loop-b{fill:var(--c-loop-b)}"                                       \
  ".circuit .frame{fill:var(--c-frame);stroke:var(--c-edge);stroke-width:1;stroke-dasharray:9 3 2 3}"                          \
  ".circuit .enclosure{fill:none;stroke:var(--c-soft);stroke-width:.8;stroke-dasharray:9 3 2 3}"                               \
  ".circuit .section-name{font-size:11px;font-weight:600;fill:var(--c-ink)}"                                                   \
  ".circuit .name{font-weight:600;fill:var(--c-ink)}.circuit .letter{font-size:9px;font-weight:600;fill:var(--c-ink)}"         \
  ".circuit .signal{font-size:9px;fill:var(--c-signal)}.circuit .spool-value{font-size:9px;fill:var(--c-ink)}"                 \
  ".circuit .node-name,.circuit .node-value{font-weight:600;fill:var(--c-ink)}"

const char *od_circuit_style(void) {
  return "svg.circuit{" LIGHT "}@media (prefers-color-scheme:dark){svg.circuit{" DARK "}}" RULES;
}

// Writes the value of a custom property in the light theme. name: begins with the property, as in "--c-ink)...".
// length: length of the property, without the parenthesis.
static void put_light(const char *name, size_t length, FILE *to) {
  const char *at = LIGHT;
  while (at && !(strncmp(at, name, length) == 0 && at[length] == ':')) at = strstr(at + 1, "--c-");
  if (at) fprintf(to, "%.*s", (int)strcspn(at + length + 1, ";"), at + length + 1);
}

void od_circuit_write_style(FILE *to) {
  const char *rest = RULES, *next;
  for (; (next = strstr(rest, "var("));) {
    size_t length = strcspn(next + 4, ")");
    fprintf(to, "%.*s", (int)(next - rest), rest);
    put_light(next + 4, length, to);
    rest = next + 4 + length + 1;
  }
  fputs(rest, to);
  fputs(od_circuit_style(), to);
}

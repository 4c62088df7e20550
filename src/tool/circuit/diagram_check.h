// Checks of a laid-out diagram. The checks use only the geometry of the diagram and share no code with the layout.
#ifndef OD_CIRCUIT_DIAGRAM_CHECK_H
#define OD_CIRCUIT_DIAGRAM_CHECK_H

#include "circuit/sheet.h"

typedef enum od_flaw {
  OD_FLAW_ENDS,          // an end is not drawn exactly once or at its net, or a part does not have exactly one cell;
                         // ends at tanks do not count
  OD_FLAW_CONNECTION,    // the lines of a net do not connect all pins of the net
  OD_FLAW_DANGLING,      // a line ends neither at a pin nor at another line
  OD_FLAW_DOTS,          // a branch without a dot, or a dot without a branch
  OD_FLAW_TOUCH,         // lines of two nets overlap, or a line of one net ends at a line of the other net
  OD_FLAW_CELLS,         // two cells overlap
  OD_FLAW_THROUGH,       // a line crosses a cell and does not lead to a pin of this cell
  OD_FLAW_TEXT_OUTSIDE,  // a text extends beyond its cell
  OD_FLAW_TEXT_OVERLAP,  // a text overlaps another text or a line
  OD_FLAW_NAMES,         // a name of a net overlaps a symbol, line, dot or name; or a net with pins does not have one
                         // or two names
  OD_FLAW_FRAMES,        // two frames overlap, or a frame contains a cell of another section
  OD_FLAWS
} od_flaw;

// Returns the name of a flaw for messages.
const char *od_flaw_name(od_flaw flaw);
// Counts the flaws of one kind. Returns -1 if an allocation fails.
int od_sheet_flaws(const od_sheet *s, od_flaw flaw);
// Returns the number of crossings of lines of different nets.
int od_sheet_crossings(const od_sheet *s);

#endif

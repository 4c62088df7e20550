// Checks of a laid-out diagram, independent of the code that lays out: geometry only.
#ifndef OD_CIRCUIT_DIAGRAM_CHECK_H
#define OD_CIRCUIT_DIAGRAM_CHECK_H

#include "circuit/sheet.h"

typedef enum od_flaw {
  OD_FLAW_ENDS,          // an end at a net other than a tank is not drawn once, or at another net
  OD_FLAW_CONNECTION,    // the lines of a net do not connect all its pins
  OD_FLAW_DANGLING,      // a line ends nowhere
  OD_FLAW_DOTS,          // a branch without a dot, or a dot without a branch
  OD_FLAW_TOUCH,         // lines of two nets lie on each other, or one ends at the other
  OD_FLAW_CELLS,         // two cells overlap
  OD_FLAW_THROUGH,       // a line crosses a cell and does not lead to a pin there
  OD_FLAW_TEXT_OUTSIDE,  // a text extends beyond its cell
  OD_FLAW_TEXT_OVERLAP,  // a text lies on another text or on a line
  OD_FLAW_NAMES,         // a name of a net lies on something, or a net with lines has no name
  OD_FLAW_FRAMES,        // two frames overlap, or a frame contains a cell of another section
  OD_FLAWS
} od_flaw;

// Returns the name of a flaw for messages.
const char *od_flaw_name(od_flaw flaw);
// Counts the flaws of one kind. Returns -1 if an allocation fails.
int od_sheet_flaws(const od_sheet *s, od_flaw flaw);
// Counts crossings of lines of different nets.
int od_sheet_crossings(const od_sheet *s);

#endif

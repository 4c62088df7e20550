// The sheet: cells in rows, their pins, and the lines between pins.
//
// Each part is a cell. A net that passes a row has a feedthrough there, a cell of 20 px with one line. Rows and channels alternate:
// channel i lies above row i. All coordinates are px; pins and cells are on a grid of 10 px. Cells may be mirrored left to right.
#ifndef OD_CIRCUIT_SHEET_H
#define OD_CIRCUIT_SHEET_H

#include <stdbool.h>

#include "circuit/circuit_graph.h"

enum {
  OD_GRID = 10,
  OD_TRACK = 10,       // distance between lines in a channel
  OD_LABEL_SIZE = 10,  // font sizes
  OD_NAME_SIZE = 9,
  OD_VALUE_ROOM = 42,     // width of the space for a pressure after the name of a net
  OD_SOURCE_NAME_Y = 22,  // baseline of the name in the cell of a source
  OD_MOST_LABELS = 6,
  OD_MOST_STUBS = 6,
};

typedef enum od_side { OD_SIDE_TOP, OD_SIDE_BOTTOM } od_side;

// A pin: the place of a cell where a line of a net ends. A line comes from the channel above or below.
typedef struct od_pin {
  int cell, net;
  int end;    // index of the end of the part; -1: feedthrough or source
  int x, y;   // end of the vertical line, relative to the top left corner of the cell without mirroring
  int reach;  // length of the horizontal piece from this end to the symbol, px; positive: to the right
  od_side side;
  bool may_turn;  // whether the pin is placed on the side that is nearer to the other pins of the net
  bool is_dashed;
  int knot;  // index of the knot of the pin
} od_pin;

// A line from a symbol down to a tank symbol; upward if the length is negative.
typedef struct od_tank_stub {
  int end;
  int x, y, reach, length;  // x, y, reach: as in od_pin; length: px, negative: upward
  bool is_dashed;
} od_tank_stub;

typedef struct od_cell {
  int part;  // index of the part; -1: a source or a feedthrough
  int net;   // net of a source or feedthrough
  const od_symbol *symbol;
  bool is_feed, is_dashed;
  int section;  // index of the section; -1: none
  int row, width, height, x, y;
  bool is_mirrored;
  int pin, pins;  // index of the first pin; number of pins
  od_tank_stub stub[OD_MOST_STUBS];
  int stubs;
  const char *label[OD_MOST_LABELS];  // lines of the label; the first line is the name
  int labels, label_x;
  const char *signal;  // "← name" of the signal that commands the element; NULL: none
  bool
      signal_is_apart;  // whether the glyph draws the signal at its drive or solenoid; otherwise the signal is the last
                        // line of the label
  int core;             // width of the symbol without its label

  // Elements in line: their upper and lower nets (-1: tank or none), whether oil flows down, and whether both nets may be exchanged.
  int above, below;
  bool flows_down, may_upend;
  int order;        // place in the row that the file gives; -1: the file gives no place
  bool keeps_side;  // whether the file gives the mirroring
  int twin;  // for cells of sections: the place of this cell among the cells of its section; equal cells of twins have
             // equal places
} od_cell;

// The pins of a net in a channel.
typedef struct od_knot {
  int net, channel;
  int first, count;  // in od_sheet.knot_pin
  int low, high;     // range of the x of the pins
  int track;         // index of the track; -1: a straight vertical line without a track
} od_knot;

// A straight piece of a line, horizontal or vertical; (x1, y1) is left or above.
typedef struct od_segment {
  int net, x1, y1, x2, y2;
  bool is_dashed;
} od_segment;
typedef struct od_dot {
  int net, x, y;
} od_dot;

// A piece of a line with one flow: points in the direction of positive flow, and the terms of the flow.
typedef struct od_piece {
  int net;
  bool is_dashed;
  bool is_main;  // whether the piece is between actuators, directional valves, pumps and sources (trace_lines.c)
  int cell;      // index of the cell, for a line from a cell to a tank symbol; -1: any other line
  int points;
  int *xy;
  od_flow_term *term;
  int terms;
} od_piece;

// A rectangle that a symbol or text covers.
typedef struct od_mark {
  double left, top, right, bottom;
  int cell;          // index of the cell; -1: none
  const char *text;  // text; NULL: the rectangle of a shape
} od_mark;

// A name of a net; a long net has two names. (x, y) is the left end of the baseline of the space for the name and the
// value that follows. If the name is left of a line, the text ends at the right end of the space.
typedef struct od_node_name {
  int net;
  const char *text;
  double x, y, width, value_width;
  bool is_right;  // whether the text ends at the right end of the space
  bool is_free;   // whether the name overlaps no symbol, text, line or dot
  int piece;      // index of the piece beside the name; -1: none
} od_node_name;

// A frame around the cells of a section, or around two parallel elements (section -1).
typedef struct od_frame {
  int section;
  const char *title;  // title of the frame; NULL: none, for frames around parallel elements
  int x, y, width, height;
} od_frame;

typedef struct od_sheet {
  od_graph *graph;
  od_arena *arena;
  od_cell *cell;
  int cells, cell_room;
  od_pin *pin;
  int pins, pin_room;
  int rows;
  int *order, *row_begin;  // cells of row r from left to right: order[row_begin[r]] .. order[row_begin[r + 1] - 1]
  int *pad;                // additional space left of each cell, px
  int *twin_of;            // for each section: the first section with equal cells, or itself
  bool failed;             // whether an allocation failed

  od_knot *knot;
  int knots;
  int *knot_pin, *channel_knot;  // indices of the pins, knot by knot; knots of channel i: channel_knot[i] ..
                                 // channel_knot[i + 1] - 1
  double *wish;                  // scratch of place_cells.c
  int *scratch, *route_cost;
  int top;                                       // y of the top of the first row
  int *row_y, *row_height, *channel_y, *tracks;  // positions and sizes of rows and channels
  int width, height;

  od_segment *segment;
  int segments, segment_room;
  od_dot *dot;
  int dots, dot_room;
  int crossings, overlaps;

  od_piece *piece;
  int pieces, piece_room;
  od_mark *mark;
  int marks;
  od_node_name *name;
  int names;
  od_frame *frame, *enclosure;
  int frames, enclosures;
} od_sheet;

// Creates the cells of all parts and the feedthroughs, and determines the initial order (sheet.c).
void od_sheet_make(od_sheet *s, od_graph *g, od_arena *arena);
// Groups pins by net and channel into knots. Call again after pins have changed their nets.
void od_sheet_tie(od_sheet *s);
// Computes the x of all cells from the order of each row (place_cells.c).
void od_sheet_place(od_sheet *s);
// Computes the y of all cells, and all segments and dots, from the x of the cells (route_channels.c).
void od_sheet_route(od_sheet *s);
// Counts crossings and overlaps of segments of different nets.
void od_sheet_count(od_sheet *s);
// Improves order, mirroring and spacing by hill climbing (climb.c).
void od_sheet_climb(od_sheet *s);
// Returns whether the cells of each row have the order that the file gives.
bool od_sheet_keeps_orders(const od_sheet *s);
// Exchanges the nets above and below of an element in line.
void od_sheet_upend(od_sheet *s, od_cell *c);
// Joins the segments of the lines into pieces with one flow each (trace_lines.c).
void od_sheet_trace(od_sheet *s);

// Return the place of a pin in the sheet: its x, the y of its end, and the channel of its line.
static inline int od_pin_x(const od_sheet *s, const od_pin *p) {
  const od_cell *c = &s->cell[p->cell];
  return c->x + (c->is_mirrored ? c->width - p->x : p->x);
}
static inline int od_pin_y(const od_sheet *s, const od_pin *p) {
  const od_cell *c = &s->cell[p->cell];
  return c->is_feed ? (p->side == OD_SIDE_TOP ? c->y : c->y + c->height) : c->y + p->y;
}
static inline int od_pin_channel(const od_sheet *s, const od_pin *p) {
  return s->cell[p->cell].row + (p->side == OD_SIDE_BOTTOM);
}
static inline int od_row_count(const od_sheet *s, int row) {
  return s->row_begin[row + 1] - s->row_begin[row];
}
// Returns the place in a row of the check valve that is parallel to the restriction or pressure valve at place `place`,
// in the opposite direction; -1: none.
int od_sheet_partner(const od_sheet *s, int row, int place);

// --- For shapes -------------------------------------------------------------------------------------------------------

// Adds a pin for end `end` of the part and returns the pin. If the end is at a tank, adds a stub to a tank symbol
// instead; if the end is not connected, adds nothing. Returns NULL in both cases and if out of memory.
od_pin *od_cell_pin(od_sheet *s, od_cell *c, int end, int x, od_side side, int y, int reach);
// Returns the part of a cell; NULL: the cell is a source or a feedthrough.
const od_part *od_cell_part(const od_sheet *s, const od_cell *c);
// Sets the label: the name and the values of the part's symbol, and the signal.
void od_cell_label(od_sheet *s, od_cell *c);
// Returns the width of the text of the signal, px; 0: none.
double od_cell_signal_width(const od_cell *c);
// Returns the width of the widest line of the label, px.
int od_cell_label_width(const od_cell *c);
// Returns the smallest multiple of the grid that is at least `width`, px.
static inline int od_grid_up(double width) {
  int steps = (int)(width / OD_GRID);
  return (steps * OD_GRID < width ? steps + 1 : steps) * OD_GRID;
}

// Returns the estimated width of a text, px. The estimate is an upper bound for usual sans-serif fonts.
double od_text_width(const char *text, double size, bool is_bold);
// Returns a text of at most `most` characters: the text itself, or its beginning with an ellipsis; NULL: out of memory.
const char *od_text_shortened(const char *text, int most, od_arena *arena);

#endif

// The look of a machine: shapes of bodies for drawings. The look has no influence on the model. The section "look" of a machine file
// gives shapes (load_look.c); the module scene makes shapes for all other bodies.
#ifndef OD_MACHINE_LOOK_H
#define OD_MACHINE_LOOK_H

#include <stdbool.h>

typedef struct od_machine od_machine;

typedef enum od_look_kind {
  OD_LOOK_OUTLINE,  // closed polygon in a plane, with a thickness across the plane
  OD_LOOK_LINE,     // open line of a width
  OD_LOOK_CAPSULE,  // segment between two points, with a diameter at each end and rounded ends
  OD_LOOK_DISC,     // disc about an axis
  OD_LOOK_BOX,      // box along the axes of the body
} od_look_kind;

// A shape in the frame of a body, m.
typedef struct od_look_shape {
  od_look_kind kind;
  const char *color;   // a word of od_look_colors or "#rrggbb"; NULL: the color of the body
  double (*point)[3];  // vertices; two ends of a capsule; center of a disc or box
  int points;
  double thickness;         // outline: extent across its plane, half on each side; disc: extent along its axis
  double width, end_width;  // line: width; capsule: diameters at its two ends
  double radius;            // disc
  double axis[3];           // disc: axis; outline: normal of its plane (unit vectors)
  double size[3];           // box: edges
} od_look_shape;

typedef struct od_look_body {
  int body;  // index in the model, or OD_GROUND
  bool is_hidden;
  const char *color;  // NULL: the default
  od_look_shape *shape;
  int shapes;  // 0: shapes follow from joints and points
} od_look_body;

// The place of an element in the circuit diagram.
typedef struct od_look_place {
  const char *name;  // full name of the element
  int row, order;    // -1: not given
  int is_mirrored;   // 0 or 1; -1: not given
} od_look_place;

typedef struct od_look {
  od_look_body *body;
  int bodies;
  od_look_place *place;
  int places;
  bool has_level, is_ground_hidden;
  double level;              // height of the ground in the picture, m
  const char *ground_color;  // NULL: the default
  int *trace;                // indices of points
  int traces;
  bool has_view;
  double view[3];  // spatial machines: direction from the machine to the viewer
} od_look;

// Names of colors; NULL ends the list.
extern const char *const od_look_colors[];
// Returns the look of a machine file. The machine owns the look.
const od_look *od_machine_look(const od_machine *machine);

#endif

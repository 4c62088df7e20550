// The picture of a scene as SVG: shared by the planar and the spatial drawing.
#ifndef OD_SCENE_DRAW_H
#define OD_SCENE_DRAW_H

#include "scene/scene_parts.h"

// The state of a picture that is being written. Picture coordinates are in pixels, x to the right and y down.
typedef struct od_draw {
  const od_scene *s;
  const double *value;  // outputs; NULL: the initial state
  FILE *to;
  bool names;
  double across[3], up[3], to_viewer[3];  // axes of the picture in ground axes
  double scale;                           // pixels per m
  double x, y;                            // picture coordinates of the origin
  double width, height;
  double highest;  // highest pressure of all chambers, Pa
} od_draw;

// Computes the position of a point of a drawn body in ground axes.
void od_draw_place(const od_draw *d, const od_scene_end *end, double out[3]);
// Converts a point in ground axes, m, to coordinates of the picture, px.
void od_draw_project(const od_draw *d, const double at[3], double out[2]);
// Returns a color as 0xrrggbb, for viewers without CSS variables. color: "#rrggbb", or a word, which gives the color of
// the light theme.
int od_draw_color(const char *color);
// Returns the color of the edges of a word in the light theme, as 0xrrggbb.
int od_draw_edge_color(const char *color);
// Returns the color of a fill in the light theme, as 0xrrggbb. shade: 0 to 1, share of black, rounded to 2 %.
int od_draw_shaded(const char *color, double shade);
// Writes the attributes of a fill: class, fill and stroke. shade: 0 to 1, share of black. Without an edge the stroke has the color of the
// fill and hides the seams between faces.
void od_draw_fill(const od_draw *d, const char *color, double shade, bool has_edge);
// Returns the place of a pressure on the scale of colors, 0 to 1; NAN if the pressure is unknown.
double od_draw_pressure(const od_draw *d, int output);
// Returns the color of a place on the scale of pressures, as 0xrrggbb.
int od_draw_pressure_color(double place);

// Places of a cylinder's parts along its axis, from its first end, m.
typedef struct od_cylinder_parts {
  double length, barrel, end, piston, thickness;  // start and end of the barrel; start and thickness of the piston
} od_cylinder_parts;
od_cylinder_parts od_draw_cylinder_parts(const od_scene_cylinder *c, double length);

// Computes the corners of the ground in space, in ground axes. Returns the distance between lines of its grid, m.
double od_draw_floor(const od_scene *s, double corner[4][3]);
// Draws the machine in space (scene_space.c). Returns false if an allocation fails.
bool od_draw_space(od_draw *d);

#endif

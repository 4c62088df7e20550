// The machine as drawable shapes: bodies with outlines, pins, cylinders, springs, ropes, rods, ground and loads.
//
// Shapes come from the section "look" of the machine file. All other bodies get shapes from their joints, points and masses by
// general rules. A scene describes the machine at any time: its outputs are the poses of bodies, pressures of chambers, lengths and
// forces. The shapes are constant in the frames of their bodies.
#ifndef OD_SCENE_H
#define OD_SCENE_H

#include <jansson.h>
#include <stdio.h>

#include "base/arena.h"
#include "oleodyn/machine.h"

typedef struct od_scene od_scene;

// Makes the scene of a machine; the arena owns the scene, and the machine must outlive the scene. *scene NULL: the machine has
// nothing to draw. If the machine has no initial state, the scene has the positions at which the assembly ended. Fails
// with OD_NO_MEMORY.
od_status od_scene_make(const od_machine *machine, od_arena *arena, const od_scene **scene, od_error *err);
// Returns the number of outputs of the machine that a moving picture needs, and their indices, each once.
int od_scene_outputs(const od_scene *s, const int **outputs);
// Returns the typical size of the machine, m.
double od_scene_size(const od_scene *s);
// Returns the scene as JSON (docs/draw.md), with outputs by name; NULL if an allocation fails.
json_t *od_scene_json(const od_scene *s);

typedef struct od_scene_picture {
  bool is_alone;  // whether the picture is a complete file with its style
  bool names;     // whether names of cylinders, joints and points are written
} od_scene_picture;
// Writes the picture as one <svg> element. value[i]: value of output i of od_scene_outputs(); NULL: the initial state. Classes are
// styled by od_scene_style() or by the page.
void od_scene_svg(const od_scene *s, const double *value, FILE *to);
void od_scene_svg_with(const od_scene *s, const double *value, const od_scene_picture *picture, FILE *to);
// Returns the CSS of a file that contains only the picture: light and dark by prefers-color-scheme.
const char *od_scene_style(void);
// Returns the CSS of od_scene_style() without its variables, for pages that define the variables.
const char *od_scene_rules(void);

// A joint or rod whose loop does not close at the initial state.
typedef struct od_scene_gap {
  const char *name;
  double size;  // distance between the points of a joint, or error of a rod's length, m
  double a[3], b[3];
  bool is_rod;
} od_scene_gap;
// Returns the number of gaps, and the gaps, largest first.
int od_scene_gaps(const od_scene *s, const od_scene_gap **gaps);

#endif

// The contents of a scene, for the files of this module.
#ifndef OD_SCENE_PARTS_H
#define OD_SCENE_PARTS_H

#include "machine/look.h"
#include "model/model.h"
#include "scene/scene.h"

// A point of a drawn body.
typedef struct od_scene_end {
  int body;  // index in od_scene.body
  double at[3];
} od_scene_end;

typedef struct od_scene_body {
  const char *name;
  int index;  // index in the model, or OD_GROUND
  int pose;   // index of the first of its seven outputs in od_scene.output; -1: the ground
  od_look_shape *shape;
  int shapes;
  double radius;  // typical half-width of its shapes at pins, m
} od_scene_body;

typedef struct od_scene_joint {
  const char *name, *type;
  od_scene_end a, b;
  bool has_axis, is_pin;  // is_pin: drawn as a pin (joints that turn, except cylindrical, planar and free joints)
  double axis[3];         // axis in the frame of body a
  double radius;          // radius of the pin, m
  int joint;              // index in the model
} od_scene_joint;

typedef struct od_scene_cylinder {
  const char *name;
  od_scene_end a, b;
  double closed, stroke, diameter, rod;
  int stages;
  int node[2];      // nodes of the chambers, or -1
  int pressure[2];  // indices in od_scene.output, or -1
  int length;       // index in od_scene.output, or -1
  bool is_behind;   // whether the cylinder is drawn before all moving bodies
  int bodies[2];    // bodies of the model that are drawn as this cylinder, or -1
} od_scene_cylinder;

// A spring, rope or rod between two points.
typedef struct od_scene_line {
  const char *name;
  od_scene_end a, b;
  double diameter;
} od_scene_line;

typedef struct od_scene_motor {
  const char *name, *joint;
} od_scene_motor;

typedef struct od_scene_load {
  const char *name;
  bool is_torque, follows_body;
  const char *joint;  // torque or force in a joint; NULL: at a point or on a body
  od_scene_end at;
  double direction[3];
  int output;  // index in od_scene.output
} od_scene_load;

// Outputs with the reaction of a joint: x, y, z, magnitude; -1: no such output.
typedef struct od_scene_reaction {
  const char *joint;
  int output[4];
} od_scene_reaction;

typedef struct od_scene_point {
  const char *name;  // "bucket.teeth"
  int body;
  double at[3];
  bool is_trace;
  bool is_tool;  // whether a load acts at the point, and no joint
} od_scene_point;

typedef struct od_scene_plane {
  double point[3], normal[3];
} od_scene_plane;

// The uses of a point of the model.
enum { OD_USE_JOINT = 1, OD_USE_ELEMENT = 2, OD_USE_LOAD = 4, OD_USE_TURN = 8, OD_USE_SLIDE = 16 };

struct od_scene {
  const od_machine *machine;
  const od_model *m;
  const od_look *look;
  od_arena *arena;
  bool is_planar, has_level;
  double right[3], up[3], normal[3];  // axes of the picture in ground axes; normal: toward the viewer
  double view[3];                     // direction to the viewer of a spatial machine
  double gravity[3];                  // unit vector, or zero
  double low[3], high[3];             // extent of all points at the initial state, m
  double size;                        // typical size, m
  double level;                       // height of the ground along `up`, m
  const char *ground_color;

  od_scene_body *body;
  int bodies;
  int *of_body;        // for each body of the model: its index in `body`; -1: drawn as part of a cylinder or hidden
  unsigned char *use;  // for each point of the model: OD_USE_JOINT and other bits of its uses
  bool *is_part;       // for each body of the model: whether it is only the barrel or the rod of a cylinder
  double *pose;        // poses of all bodies of the model at the initial state, OD_POSE_SIZE each

  od_scene_joint *joint;
  int joints;
  od_scene_cylinder *cylinder;
  int cylinders;
  od_scene_line *spring, *rod, *rope;
  int springs, rods, ropes;
  od_scene_motor *motor;
  int motors;
  od_scene_load *load;
  int loads;
  od_scene_reaction *reaction;
  int reactions;
  od_scene_point *point;
  int points;
  od_scene_plane *plane;
  int planes;
  od_scene_gap *gap;
  int gaps;

  int *output, outputs;
  double *value;  // values of the outputs at the initial state
};

// --- Vectors ------------------------------------------------------------------------------------------------------

static inline double od_dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void od_cross3(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}
double od_distance3(const double a[3], const double b[3]);
// Scales a vector to length 1. Returns its length; a vector of length 0 stays zero.
double od_unit3(double v[3]);
// Computes two unit vectors perpendicular to a unit vector.
void od_across3(const double axis[3], double u[3], double v[3]);

// --- Poses (scene_pose.c) -----------------------------------------------------------------------------------------

// Computes od_scene.pose from the initial coordinates of the model. Returns false if an allocation fails.
bool od_scene_place(od_scene *s);
// Converts a vector from the frame of a body to ground axes: a position, or a direction (without the origin). pose NULL: the ground.
void od_pose_apply(const double *pose, const double v[3], bool is_direction, double out[3]);
// Returns the initial pose of a body of the model; NULL for OD_GROUND.
const double *od_scene_pose_of(const od_scene *s, int body);
// Computes the initial position of a point of the model in ground axes.
void od_scene_point_place(const od_scene *s, int point, double out[3]);
// Returns the pose of drawn body i; value: the outputs, NULL: the initial state. NULL for the ground.
const double *od_scene_pose_at(const od_scene *s, int i, const double *value);

// --- Outlines (scene_outline.c) -----------------------------------------------------------------------------------

typedef struct od_circle {
  double x, y, r;
} od_circle;
// A stroke of an outline: from circle a to circle b, with straight sides. A triangle fills the area between three circles.
typedef struct od_stroke {
  od_circle a, b, c;
  bool is_triangle;
} od_stroke;
typedef struct od_polygon {
  double (*point)[2];
  int points;
} od_polygon;
// Returns the convex hull of circles as a polygon, counterclockwise. No points if an allocation fails.
od_polygon od_outline_hull(od_arena *arena, const od_circle *circle, int count);
// Returns the outline of the union of strokes, whose corners are rounded with a radius of about `blend`, counterclockwise. No points
// if an allocation fails.
od_polygon od_outline_union(od_arena *arena, const od_stroke *stroke, int count, double blend);
// Returns the convex hull of points, counterclockwise, in memory of the arena. Changes the order of `point`. The hull has no
// points if `count` is 0 or an allocation fails.
od_polygon od_outline_points_hull(od_arena *arena, double (*point)[2], int count);

// --- Bodies (scene_bodies.c, scene_ground.c) ----------------------------------------------------------------------

// Adds a shape to a list in the arena. Returns the new shape, or NULL if an allocation fails.
od_look_shape *od_scene_add_shape(od_scene *s, od_scene_body *body);
// Adds an outline in the plane of two axes through a point of the body's frame.
void od_scene_add_outline(od_scene *s, od_scene_body *body, const od_polygon *p, const double origin[3],
                          const double u[3], const double v[3], double thickness, const char *color);
// Make the default shapes of a body without shapes in the file, and of the ground with its bearings.
void od_scene_shape_body(od_scene *s, od_scene_body *body);
void od_scene_shape_ground(od_scene *s, od_scene_body *ground);
// Finds the level of the ground in the picture: s->level, m.
void od_scene_find_level(od_scene *s);

#endif

// Fields of the parts of a machine in the data of `info`: geometry, circuit, signals. Names of points are "body.point". The
// caller owns the returned JSON values, which are NULL if an allocation fails.
#ifndef OD_MACHINE_PARTS_H
#define OD_MACHINE_PARTS_H

#include <jansson.h>

#include "machine/machine.h"
#include "result/result.h"

// --- Geometry (parts_geometry.c) --------------------------------------------------------------------------------------

// Returns a vector as a list of three numbers.
json_t *od_json_vector(const double v[3]);
// Returns the name of a point: "boom.end", "ground.B".
json_t *od_json_point(const od_model *m, int point);
// Returns the name of a body, or "ground".
const char *od_body_name(const od_model *m, int body);
// Computes the coordinates of a point in the frame of its body, m.
void od_point_place(const od_model *m, int point, double at[3]);
// Computes the unit vector in the direction of the three numbers of the model starting at `number`.
void od_unit_vector(const od_model *m, int number, double unit[3]);

// Returns the points of a body or of the ground: names within the body, and coordinates in the frame of the body.
json_t *od_json_points_of(const od_model *m, int body);
// Add fields to the row of a part.
void od_set_body_geometry(od_result_table *t, const od_model *m, int body);
void od_set_joint_geometry(od_result_table *t, const od_model *m, int joint);
void od_set_load_geometry(od_result_table *t, const od_model *m, int load);
// Returns the axes and the normal of the plane of a planar machine; null for a spatial machine.
json_t *od_json_plane(const od_model *m);

// --- Circuit (parts_circuit.c) ----------------------------------------------------------------------------------------

// Returns the ends of an instance: key, place in the list of the key, role, node, the output with the flow, and the sign of this flow
// (null: no output).
json_t *od_json_ends(const od_model *m, int instance);
// Returns the output that shows entry `row` of the outputs of an instance's class (od_end_flow.output); -1: none.
int od_instance_output(const od_model *m, int instance, int row);
// Returns the key that the signal of an instance drives; NULL: no signal.
const char *od_driven_key(const od_model *m, const od_instance *e);
// Adds the fields of a port (side, opening at zero) or of a valve (open paths at each position of the spool). Other instances get no
// field.
void od_set_valve_paths(json_t *row, const od_model *m, int instance);
// Computes the openings of all paths of a valve at a spool position (-1, 0 or 1 strokes), relative to the largest opening of the
// path at the three positions: opening[from * ends + to]; 0: closed. `opening` has room for OD_MOST_ENDS squared numbers. Returns
// false if the instance is neither a valve nor a port, or if an allocation fails.
bool od_valve_openings(const od_model *m, int instance, int position, double *opening);
// Returns the opening of a port of a valve at spool position zero, 0 to 1.
double od_port_opening_at_zero(const od_model *m, int instance);
// Returns the largest spool position, in the unit of the spool: the number `stroke` of the instance or of its host; 1 without
// such a number.
double od_valve_stroke(const od_model *m, const od_instance *e);
// Returns the parts that a signal drives: kind of part, name and key.
json_t *od_json_driven(const od_model *m, int signal);
// Writes the name of an instance. A named part of a host has the name "host.part". An unnamed part of a host or joint has the name
// "host.key" or "joint.key".
void od_instance_name(const od_model *m, int instance, char *name, size_t size);

// --- Scene (machine_scene.c) ------------------------------------------------------------------------------------------

// Returns positions at the initial state: poses of bodies, points, joints, lines of elements, and pressures. If the machine has no
// initial state, or if the outputs at this state cannot be computed, returns only the reason.
json_t *od_json_scene(const od_machine *machine);

#endif

// The layout of a machine's work memory: named index ranges of one flat array of scalars and one flat array of integers. The real
// and the complex build of the kernels use the same offsets. Tangents and derivatives exist only in the real build and
// come after all shared scalars.
#ifndef OD_LAYOUT_H
#define OD_LAYOUT_H

#include <stdbool.h>

// Sizes of planar (x, y, turn) and spatial quantities.
enum { OD_PLANAR_ND = 2, OD_PLANAR_NV = 3, OD_PLANAR_NR = 2, OD_PLANAR_NI = 4 };
enum { OD_SPATIAL_ND = 3, OD_SPATIAL_NV = 6, OD_SPATIAL_NR = 9, OD_SPATIAL_NI = 10 };

// Numbers of scalars of a line between two points, and of the tangent of a line, in nd dimensions.
#define OD_LINE_SCALARS(nd)         (5 * (nd) + 2)
#define OD_LINE_TANGENT_SCALARS(nd) (3 * (nd) + 2)
// Number of scalars of a link in the factors of a tree's Newton matrix (mechanics/tree_solve_x.h); motion vectors have nv
// entries.
#define OD_TREE_LINK_SCALARS(nv) (3 * (nv) * (nv) + 12 * (nv) + 4)

// Offsets of tangents in lanes.
typedef struct od_lane_places {
  int dX, dS, dV, dA, dF, dz, dzd, dzdd, dtau, dline, dlength, dspeed, dforce, dscratch;
} od_lane_places;

typedef struct od_layout {
  // Numbers and derived constants; reference: the point near the machine about which vectors are computed.
  int theta, gravity, reference, offset, axis, inertia, point, closure_u, closure_w, closure_dot, direction, chart;
  // Joint coordinates, their rates and accelerations; inputs, outputs of blocks, measured quantities.
  int z, zd, zdd, u;
  // Links: angle (planar), rotation, position, joint axis S, its rate, velocity V, acceleration without z'' (bias),
  // acceleration A, inertia in ground axes, force F (after accumulation: the force of the whole branch).
  int angle, rotation, position, S, Sd, V, bias, A, ground_inertia, F;
  // Loops: closure residual, Jacobian entries, their factors, R in z_dep = R z_ind, the part of z_dep'' due to velocities,
  // multipliers.
  int phi, jacobian, lu, R, curl, lambda;
  int tau, scratch;
  // Actuators: the line between their points (struct line in mechanics/forces_x.h), length, speed and the sum of forces.
  int line, length, speed, force;
  // Circuit: first-order states and their rates. For nodes: pressures (as elements read them), net inflows, volumes, largest
  // volumes, compliances in addition to the oil, bulk moduli, and changes of pressure per unit of inflow. Then the oil's properties
  // (as elements read them), a constant one for instances without a signal, and a constant zero for unconnected ends.
  int c, rate, pressure, inflow, volume, largest, compliance, modulus, stiffness, oil, one, nothing;
  // Junctions: net flows and throughputs; steps of their pressures; pressures and net flows before a step; sums of the rows of
  // the derivatives of flows with respect to pressures (od_junction_group.matrix).
  int junction_flow, junction_through, junction_step, junction_before, junction_start, junction_sum;
  // Instances of elements, class by class: their inputs, their outputs, their own memory, their reports.
  int in, out, kept, report;
  int time;     // time of the last point in s, for foreign blocks
  int held;     // values at which jumps of formulas and blocks are held (base/formula.h)
  int scalars;  // end of the scalars of the complex build, and thus their count

  // Tangents along one direction; the tangents of links are contiguous. The same tangents in lanes follow in the same order.
  int dX, dS, dV, dA, dF, dz, dzd, dzdd, dtau, dline, dlength, dspeed, dforce, dscratch;
  od_lane_places lanes;
  // Derivatives of the circuit at the last point. For each instance: its derivatives. For each actuator's force: with respect to
  // its own length and speed, states and signals (rows force_width apart). For each rate: with respect to all lengths, speeds,
  // states and signals (rows rate_width apart, or sparse: od_join.row_start). The last column of a row is for constants. Also:
  // the derivatives of the pressures that elements read with respect to their states or signals; the factor of each output in its
  // row; the derivatives of lengths with respect to the independent coordinates. After the signals, rows of rates have a column
  // for each junction pressure. A row for each junction precedes the rows of rates (od_junction_group.row): its pressure with
  // respect to the columns of a rate's row, then to inflows of junctions. junction_change is the derivative of these inflows with
  // respect to a number.
  int junction_change;
  int slope, force_row, force_width, rate_row, rate_width, pressure_gain, target_gain, length_map;
  int by_temperature;  // derivative of every output with respect to temperature, if there is a reservoir

  // Blocks: local derivatives; derivatives of the residual with respect to the signals that act on the machine (by rows); changes
  // of signals and of the rates of blocks along one direction.
  int block_slope, drive, signal_line, block_rate;
  int switch_stored, switch_loss;  // elements with modes: energy before the last switch; losses in all switches
  // Sampled blocks: number of samples of each block; samples that delays store.
  int sampled, ring;
  int before_sample;  // data restored after a failed sample, see plant/model_plant_samples.c
  int scalars_real;
  // Integers: the partition (see mechanics/partition.h).
  int dependent, independent, kept_row, lu_start, lu_diagonal, lu_column, lu_source, rhs_start, rhs_column, rhs_source;
  int integers;
} od_layout;

typedef struct od_model od_model;

// Fills the layout of a model whose tables are complete; freedom must not exceed the number of coordinates. Places groups of
// junctions. Returns false if the work memory is too large for integer offsets.
bool od_layout_fill(const od_model *m, od_layout *l);
// Fills the layout of a model from an image, in which the groups of junctions already have places. Also returns false if these
// places differ from the layout.
bool od_layout_check(const od_model *m, od_layout *l);

#endif

// Where everything lives in a machine's work memory: named index ranges of one flat array of scalars and one flat
// array of integers. The same offsets serve the real and the complex build of the kernels; tangents exist in the
// real one only and come last.
#ifndef OD_LAYOUT_H
#define OD_LAYOUT_H

// Sizes of planar (x, y, turn) and spatial quantities.
enum { OD_PLANAR_ND = 2, OD_PLANAR_NV = 3, OD_PLANAR_NR = 2, OD_PLANAR_NI = 4 };
enum { OD_SPATIAL_ND = 3, OD_SPATIAL_NV = 6, OD_SPATIAL_NR = 9, OD_SPATIAL_NI = 10 };

// Scalars of a line between two points and of its tangent, in nd dimensions.
#define OD_LINE_SCALARS(nd)         (5 * (nd) + 2)
#define OD_LINE_TANGENT_SCALARS(nd) (3 * (nd) + 2)
// Scalars of a link in the factors of a tree's Newton matrix (mechanics/tree_solve_x.h), with motion vectors of nv entries.
#define OD_TREE_LINK_SCALARS(nv) (3 * (nv) * (nv) + 12 * (nv) + 4)

// Where tangents in lanes begin.
typedef struct od_lane_places {
  int dX, dS, dV, dA, dF, dz, dzd, dzdd, dtau, dline, dlength, dspeed, dforce, dscratch;
} od_lane_places;

typedef struct od_layout {
  // Numbers and what is derived from them; reference: the point near the machine that vectors are taken about.
  int theta, gravity, reference, offset, axis, inertia, point, closure_u, closure_w, closure_dot, direction, chart;
  // Joint coordinates, their rates and accelerations; inputs, outputs of blocks, what blocks measure.
  int z, zd, zdd, u;
  // Links: angle (planar), rotation, position, joint axis S, its rate, velocity V, acceleration without z'' (bias),
  // acceleration A, inertia in ground axes, force F (after accumulation: of the whole branch).
  int angle, rotation, position, S, Sd, V, bias, A, ground_inertia, F;
  // Loops: closure residual, Jacobian entries, their factors, z_dep = R z_ind, what velocities alone
  // demand of z_dep'', multipliers.
  int phi, jacobian, lu, R, curl, lambda;
  int tau, scratch;
  // Actuators: the line between their points (struct line in mechanics/forces_x.h), length, speed and the sum of forces.
  int line, length, speed, force;
  // Circuit: first-order states and their rates; pressures (as seen by elements), net inflows, volumes, largest volumes,
  // compliances beside the oil, bulk moduli of nodes, and what one unit of inflow does to their pressures; the oil as elements see it; a one, for instances that listen to no signal, and a zero, for ends
  // that are not connected.
  int c, rate, pressure, inflow, volume, largest, compliance, modulus, stiffness, oil, one, nothing;
  // Junctions: net flows, and what flows through them; steps of their pressures, pressures and net flows before a step; the slopes of
  // flows by pressures (od_junction_group.matrix) and the sums of their rows.
  int junction_flow, junction_through, junction_step, junction_before, junction_start, junction_sum;
  // Instances of elements, class by class: what they depend on, what they answer, memory of their own, what they tell.
  int in, out, kept, report;
  int held;     // what jumps of formulas and blocks are held at (base/formula.h)
  int scalars;  // up to here for the complex build
  // Tangents along one direction; those of links stand one after another. Behind them the same in lanes, in the same order.
  int dX, dS, dV, dA, dF, dz, dzd, dzdd, dtau, dline, dlength, dspeed, dforce, dscratch;
  od_lane_places lanes;
  // Derivatives of the circuit at the last point: of each instance, then of each actuator's force by its own length and
  // speed, by states and by signals (force_width apart), then of each rate by all lengths, speeds, states and signals
  // (rate_width apart, or sparse: od_join.row_start); the last column of a row is for what depends on nothing. How pressures as elements see them move with
  // their states or signals; how much each out changes the row it counts in. And lengths by the independent
  // coordinates. Behind the signals, rates have a column for each junction's pressure. Before the rows of rates stands a row for
  // each junction (od_junction_group.row): its pressure by what a rate's row has, then by inflows of junctions. A change of those
  // by a number is junction_change.
  int junction_change;
  int slope, force_row, force_width, rate_row, rate_width, pressure_gain, target_gain, length_map;
  int by_temperature;  // of every out, where there is a reservoir
  // Blocks: local derivatives; of the residual by the signals that drive something (all of a row together); changes of
  // signals and of the rates of blocks along one direction.
  int block_slope, drive, signal_line, block_rate;
  // Sampled blocks: how many samples each has taken; what delays remember.
  int switch_stored, switch_loss;  // of elements with modes: before their last switch; what they lost in all of them
  int sampled, ring;
  int before_sample;  // what a sample that fails comes back to, see plant/model_plant_samples.c
  int scalars_real;
  // Integers: the partition (see mechanics/partition.h).
  int dependent, independent, kept_row, lu_start, lu_diagonal, lu_column, lu_source, rhs_start, rhs_column, rhs_source;
  int integers;
} od_layout;

typedef struct od_model od_model;

// Fills the layout of a model whose tables are complete; freedom must not be larger than its coordinates.
void od_layout_fill(const od_model *m, od_layout *l);

#endif

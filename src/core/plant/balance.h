// The static balance of an initial state as a system of equations, shared by balance*.c.
#ifndef OD_BALANCE_H
#define OD_BALANCE_H

#include "plant/assembly.h"
#include "plant/equilibrium.h"
#include "plant/model_plant.h"

typedef struct od_balance {
  od_assembly *s;
  const od_trial_plant *t;
  int n, angles, pressures, states;  // degrees of freedom; numbers of balanced coordinates, pressures and other states
  od_condition *held;                // held positions
  int helds;
  int *state, *row;     // indices of the unknowns in x; indices of the rows in the residual
  int *owner, *source;  // for each unknown and for each row: index of its initial value in the builder, for messages
  double *scale;
  int unknowns, rows, forces;      // number of unknowns, of rows, and of forces, which are the first rows
  int state_rows;                  // number of rows with rates of balanced states; these rows follow the forces
  bool left_out;                   // whether some forces are left out of the equations
  bool *row_pivot, *column_pivot;  // whether a row determines an unknown; whether an unknown is determined
  double *work;                    // scratch: see take_memory() in balance.c
} od_balance;

static inline const od_model *od_balance_model(const od_balance *b) {
  return b->s->m;
}

// Returns the name of an initial value's quantity, for messages.
static inline const char *od_balance_name(const od_balance *b, int initial) {
  return b->s->b->initial[initial].quantity;
}

static inline bool od_balance_is_coordinate(const od_condition *c) {
  return c->output.kind == OD_OUT_COORDINATE;
}

static inline bool od_balance_is_pressure(const od_condition *c) {
  return c->output.kind == OD_OUT_NODE_PRESSURE;
}

// Returns the coordinate whose force is row k of the residual.
static inline int od_balance_coordinate(const od_balance *b, int k) {
  return od_model_plant_integers(b->t->plant, b->t->work)[od_balance_model(b)->layout.independent + k];
}

// ---- held positions (balance_held.c)

// Computes the derivatives of an output with respect to the independent coordinates, at the last point.
void od_balance_gradient(const od_balance *b, const od_output *o, double *row);
// Returns the output that is the length of an instance with a reach.
od_output od_balance_length(const od_balance *b, int instance);
// Chooses the held positions. If other conditions determine a balanced coordinate, reports a problem and returns false.
bool od_balance_choose_held(od_balance *b);
// If a held position puts a cylinder beyond its stroke, no balance exists: reports a problem and returns false.
bool od_balance_check_held_cylinders(od_balance *b);
// Computes the equations of the held positions, for od_equilibrium.condition.
void od_balance_conditions(void *balance, void *work, double *r, double *rz);

// ---- equations (balance.c)

// Returns the equations of the balance as a problem for od_equilibrium. The problem refers to *b.
od_equilibrium od_balance_problem(od_balance *b);
// Chooses pivots at x: held positions first, then forces (in columns of positions if possible), rates of states, and at most
// `resting` rates of pressures. b->work receives the values of the equations. Returns false if the equations cannot be
// evaluated.
bool od_balance_find_pivots(od_balance *b, const double *x, int resting);
// Computes the mass matrix at the last point in b->t->mass.
void od_balance_mass_matrix(const od_balance *b);
// Returns whether a residual force in a row causes a negligible acceleration, with the mass matrix in b->t->mass.
bool od_balance_is_at_rest(const od_balance *b, int row, double force);

// ---- messages (balance_messages.c)

// Reports forces that are not zero in the balance, including forces left out of the equations.
void od_balance_check_forces(od_balance *b);
// Reports cylinders that the balance holds at an end stop.
void od_balance_check_strokes(od_balance *b);
// Reports balanced pressures below zero, because oil cannot carry tension. value: true if the pressures are a solution; false if
// they are the end of an unsuccessful search. Returns whether a pressure was reported.
bool od_balance_report_suction(od_balance *b, const double *x, bool value);
// Reports the reason why no balance was found. The search began at `start` and ended at x.
void od_balance_report_failure(od_balance *b, const double *start, const double *x);

#endif

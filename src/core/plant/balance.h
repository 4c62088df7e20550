// What the balance*.c share: the static balance of an initial state as a problem, from what is to be balanced to equations.
#ifndef OD_BALANCE_H
#define OD_BALANCE_H

#include "plant/assembly.h"
#include "plant/equilibrium.h"
#include "plant/model_plant.h"

typedef struct od_balance {
  od_assembly *s;
  const od_trial_plant *t;
  int n, angles, pressures, states;  // degrees of freedom; what is balanced
  od_condition *held;                // positions that stay
  int helds;
  int *state, *row;     // unknowns; rows of the residual
  int *owner, *source;  // the initial values that unknowns and rows are about
  double *scale;
  int unknowns, rows, forces;      // rows: forces first
  int state_rows;                  // then the rates of balanced states
  bool left_out;                   // some forces are no equations
  bool *row_pivot, *column_pivot;  // equations that decide an unknown each, unknowns that are decided
  double *work;                    // scratch: see take_memory() in balance.c
} od_balance;

static inline const od_model *od_balance_model(const od_balance *b) {
  return b->s->m;
}

// The quantity of an initial value, as messages name it.
static inline const char *od_balance_name(const od_balance *b, int initial) {
  return b->s->b->initial[initial].quantity;
}

static inline bool od_balance_is_coordinate(const od_condition *c) {
  return c->output.kind == OD_OUT_COORDINATE;
}

static inline bool od_balance_is_pressure(const od_condition *c) {
  return c->output.kind == OD_OUT_NODE_PRESSURE;
}

// The coordinate whose force is row k of the residual.
static inline int od_balance_coordinate(const od_balance *b, int k) {
  return od_model_plant_integers(b->t->plant, b->t->work)[od_balance_model(b)->layout.independent + k];
}

// ---- positions that stay (balance_held.c)

// The change of an output with the independent coordinates, at the last point.
void od_balance_gradient(const od_balance *b, const od_output *o, double *row);
// The length of an instance that has a reach.
od_output od_balance_length(const od_balance *b, int instance);
// Chooses them. False with a message when a balanced coordinate is decided by something else.
bool od_balance_choose_held(od_balance *b);
// False with a message when the positions that stay put a cylinder beyond its stroke: no balance can mend that.
bool od_balance_check_held_cylinders(od_balance *b);
// As equations, for od_equilibrium.condition.
void od_balance_conditions(void *balance, void *work, double *r, double *rz);

// ---- equations (balance.c)

od_equilibrium od_balance_problem(od_balance *b);
// At x: positions that stay first, then forces, by positions where they can, then blocks, and as many pressures that
// rest as are wanted. The equations' values are left in b->work. False when they cannot be evaluated.
bool od_balance_find_pivots(od_balance *b, const double *x, int resting);
// The mass matrix at the last point, into t->mass.
void od_balance_mass_matrix(const od_balance *b);
// With that, whether a force makes no acceleration to speak of.
bool od_balance_is_at_rest(const od_balance *b, int row, double force);

// ---- what is wrong (balance_messages.c)

// Forces that are left over where nothing should move, in any of the equations, those that were left out too.
void od_balance_check_forces(od_balance *b);
// A balance that an end stop holds is none that the cylinder was built for.
void od_balance_check_strokes(od_balance *b);
// Balanced pressures below zero, where oil does not pull. `value`: they are known and not just where a search ended.
bool od_balance_complain_about_suction(od_balance *b, const double *x, bool value);
// Why there is no balance: the search began at `start` and ended at x.
void od_balance_complain_about_failure(od_balance *b, const double *start, const double *x);

#endif

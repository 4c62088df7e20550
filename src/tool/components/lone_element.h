// A single instance of an element class, with its defaults or the middle of the usual ranges, for pictures of classes.
#ifndef OD_COMPONENTS_LONE_ELEMENT_H
#define OD_COMPONENTS_LONE_ELEMENT_H

#include "elements/element_description.h"

enum { OD_LONE_WORK = 256 };

typedef struct od_lone_element {
  const od_element_description *type;
  double w[OD_LONE_WORK];
  int pool[2 + OD_MOST_ELEMENT_CHOICES];
  od_batch batch;
  double pressure;  // pressure of all ends but the first: the largest pressure among the element's numbers, or 100 bar
  double first_pressure;  // pressure of the first end: zero at the inlet of a pump, else twice `pressure`
  double length;          // largest length among the numbers, or 0.5 m
  bool two_sided;         // whether the length is a coordinate that may be negative
} od_lone_element;

// Initializes an instance. Returns false if the class cannot be evaluated alone: a class without a section of its own (ports,
// friction, springs in joints), or a class with a formula per instance.
bool od_lone_element_make(const od_element_description *type, od_lone_element *x);

// Resets all inputs. The ends have their pressures, and the velocity is zero. The length is in the middle of the stroke; without
// a stroke, the length is `length`, or zero if `two_sided` is set. Signals are 1, and states have their initial values. With
// `modes`, states without a rate have their typical size instead; for example, a brake holds.
void od_lone_element_reset(od_lone_element *x, bool modes);
double od_lone_element_state_size(const od_lone_element *x, int state);

static inline double *od_lone_element_in(od_lone_element *x, int slot) {
  return &x->w[x->batch.in + slot];
}
static inline double od_lone_element_out(const od_lone_element *x, int slot) {
  return x->w[x->batch.out + slot];
}
static inline double od_lone_element_number(const od_lone_element *x, int field) {
  return x->w[x->pool[0] + field];
}
static inline void od_lone_element_evaluate(od_lone_element *x) {
  x->type->equations->evaluate(&x->batch, x->pool, x->w);
}

// Lets the states settle from their current values, with all other inputs constant, then evaluates the element. Returns false if
// the states do not settle.
bool od_lone_element_settle(od_lone_element *x);

#endif

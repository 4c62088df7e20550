// The functions of a friction law, compiled from its equations in the scalar of the build: evaluation and report as an element,
// evaluation as a block, steady force. Included at the end of the equations of a law; law_tables.h lists the names that the law
// must define first.
typedef struct X(in) {
  od_x speed;
#if OD_LAW_HAS_BRISTLES
  od_x bristle;
#endif
#if OD_LAW_HAS_FILM_STATE
  od_x film;
#endif
#if OD_LAW_HAS_ACCELERATION
  od_x felt;
#endif
  od_x signal;
} X(in);
typedef struct X(out) {
  od_x friction, force;
#if OD_LAW_HAS_BRISTLES
  od_x bristle;
#endif
#if OD_LAW_HAS_FILM_STATE
  od_x film;
#endif
#if OD_LAW_HAS_ACCELERATION
  od_x felt;
#endif
} X(out);
typedef struct X(report) {
  od_x loss, stored;
#if OD_LAW_HAS_BRISTLES
  od_x deflection;
#endif
} X(report);

// Returns the numbers for one direction. negative: whether the numbers for negative speeds are returned, which are
// assembled in `room`.
static inline const X(numbers) * X(direction_numbers)(const X(numbers) * q, bool negative, X(numbers) * room) {
  if (!negative) return q;
  *room = *q;
  const od_x *other = (const od_x *)(q + 1);
  for (int i = 0; i < OD_SIDED; i++) ((od_x *)room)[i] = other[i];
  return room;
}

#ifdef OD_LAW_OF_SPEED
// Returns the numbers of a law, scaled by the factor of the law times the signal. `room` contains the result, except in
// real numbers if the product is 1.
static inline const X(numbers) * X(scaled)(const X(numbers) * q, od_x signal, X(numbers) * room) {
  od_x factor = q->factor * signal;
#ifndef OD_COMPLEX
  if (factor == 1) return q;
#endif
  *room = *q;
  X(scale)(room, od_x_log(X(least_factor)(factor)));
  return room;
}
static inline void X(force_and_rates)(const X(numbers) * q, const X(in) * in, X(out) * out) {
  X(numbers) room;
  out->friction = X(friction)(X(scaled)(q, in->signal, &room), in->speed);
}
static inline od_x X(steady_of)(const X(numbers) * q, od_x v) {
  X(numbers) room;
  return X(friction)(X(scaled)(q, 1, &room), v);
}
#else
#include "friction/lugre_equations_x.h"
#endif

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  X(numbers) room;
  X(force_and_rates)(X(direction_numbers)(q, s.choice[0] && RE(in->speed) < 0, &room), in, out);
  out->force = -out->friction;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->friction * in->speed;
  r->stored = 0;
#if OD_LAW_HAS_BRISTLES
  // The stored energy is the energy of the bristles and of the mass that is equivalent to the acceleration term.
  X(numbers) room;
  const X(numbers) *side = X(direction_numbers)(q, s.choice[0] && RE(in->speed) < 0, &room);
  X(family) f = X(family_of)(side, in->signal);
  r->deflection = in->bristle / f.sigma_0;
  r->stored = in->bristle * r->deflection / 2;
  r->loss -= r->deflection * out->bristle;
#if OD_LAW_HAS_ACCELERATION
  r->stored += f.inertia * in->felt * in->felt / 2;
  r->loss -= f.inertia * in->felt * out->felt;
#endif
#endif
}

#ifndef OD_COMPLEX
#ifdef OD_LAW_OF_SPEED
typedef struct slopes_r {
  in_r friction, force;
} slopes_r;
static inline void law_slopes(const numbers_r *q, const in_r *in, double product_slope, slopes_r *by) {
  numbers_r room;
  double factor = q->factor * in->signal;
  speed_law_slopes d = friction_slopes(scaled_r(q, in->signal, &room), in->speed);
  by->friction = (in_r){d.speed, factor > OD_FRICTION_LEAST_FACTOR ? d.log_factor * product_slope / factor : 0};
  by->force = (in_r){-by->friction.speed, -by->friction.signal};
}
#endif

static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  numbers_r room;
  const numbers_r *side = direction_numbers_r(q, s.choice[0] && in->speed < 0, &room);
  law_slopes(side, in, side->OD_FOLLOWS_SIGNAL, by);
}
#endif

// ---- the law as a block: the inputs are the speed, and a load or a signal that multiplies the factor

// Returns the inputs of the law for the states x and the inputs u of a block.
static inline X(in) X(block_in)(const od_block_spec *s, const od_x *x, const od_x *u) {
  (void)s, (void)x;
  X(in) in = {.speed = u[0], .signal = 1};
#if !OD_LAW_HAS_ACCELERATION
  if (s->choice[1]) in.signal = u[1];
#endif
#if OD_LAW_HAS_BRISTLES
  in.bristle = x[0];
#endif
#if OD_LAW_HAS_FILM_STATE
  in.film = x[1];
#endif
#if OD_LAW_HAS_ACCELERATION
  in.felt = x[2];
#endif
  return in;
}

// Returns the numbers of one direction. If the law has a load, the load input of the block is added to the load. The
// result is in `room` if numbers were changed.
static inline const X(numbers) *
    X(block_numbers)(const od_block_spec *s, const od_x *q, const od_x *u, X(numbers) * room) {
  const X(numbers) *side = X(direction_numbers)((const X(numbers) *)q, s->choice[0] && RE(u[0]) < 0, room);
#if OD_LAW_HAS_ACCELERATION
  if (side != room) *room = *side;
  room->load += u[1], side = room;
#endif
  return side;
}

// Computes the force y (N) and the rates of the states x.
static void X(evaluate_block)(const od_block_spec *s, const od_x *q, const od_x *x, const od_x *u, const od_x *held,
                              od_x *y, od_x *rate) {
  (void)held, (void)rate;
  X(numbers) room;
  X(in) in = X(block_in)(s, x, u);
  X(out) out;
  X(force_and_rates)(X(block_numbers)(s, q, u, &room), &in, &out);
  y[0] = out.friction;
#if OD_LAW_HAS_BRISTLES
  rate[0] = out.bristle;
#endif
#if OD_LAW_HAS_FILM_STATE
  rate[1] = out.film;
#endif
#if OD_LAW_HAS_ACCELERATION
  rate[2] = out.felt;
#endif
}

#ifndef OD_COMPLEX
// Computes the derivatives of a block. Rows are the friction and the rates; columns are the states, the speed, and the
// factor or the load.
static void slopes_block(const od_block_spec *s, const double *q, const double *x, const double *u, const double *held,
                         double *by) {
  (void)held;
  enum { INS = OD_LAW_STATES + 2 };  // in the order of in_r: speed, states, signal
  numbers_r room;
  const numbers_r *side = block_numbers_r(s, q, u, &room);
  in_r in = block_in_r(s, x, u);
  slopes_r d;
  law_slopes(side, &in, OD_LAW_HAS_ACCELERATION ? 1 : s->choice[1] ? side->OD_FOLLOWS_SIGNAL : 0, &d);
  const double *row = (const double *)&d;
  for (int i = 0; i <= OD_LAW_STATES; i++, by += INS) {
    const double *from = row + INS * (i == 0 ? 0 : i + 1);  // row 1 is the force of the element
    for (int j = 0; j < OD_LAW_STATES; j++) by[j] = from[1 + j];
    by[OD_LAW_STATES] = from[0];
    by[OD_LAW_STATES + 1] = from[INS - 1];
  }
}
#endif

// ---- functions of the table of laws

static od_x X(steady)(const od_x *q, bool two_sided, od_x v) {
  X(numbers) room;
  return X(steady_of)(X(direction_numbers)((const X(numbers) *)q, two_sided && RE(v) < 0, &room), v);
}
#ifndef OD_LAW_OF_SPEED
static void X(family_numbers)(const od_x *q, bool two_sided, bool negative, od_x signal, od_x family[OD_FAMILY_COUNT]) {
  X(numbers) room;
  *(X(family) *)family =
      X(family_of)(X(direction_numbers)((const X(numbers) *)q, two_sided && negative, &room), signal);
}
#endif

// What friction laws have in common, in the scalar of the build. To be included at the end of the text of a law, which has
// X(numbers), OD_SIDED (how many of them differ by direction, the first ones) and OD_LAW_STATES, and
// - OD_LAW_PLAIN: what plain_x.h says, a force against a speed; or
// - family_x.h and X(family_of)(q, signal), its parameters as those of the family.
// Either listens to a signal: what its factor or its load is multiplied by.
// States: 1 the bristles, 2 the film as well, 3 also the speed that the acceleration is taken from. A law of the family without
// states has a film that follows the speed at once, one with bristles alone has none.
typedef struct X(in) {
  od_x speed;
#if OD_LAW_STATES > 0
  od_x bristle;
#endif
#if OD_LAW_STATES > 1
  od_x film;
#endif
#if OD_LAW_STATES > 2
  od_x felt;
#endif
  od_x signal;
} X(in);
typedef struct X(out) {
  od_x friction, force;
#if OD_LAW_STATES > 0
  od_x bristle;
#endif
#if OD_LAW_STATES > 1
  od_x film;
#endif
#if OD_LAW_STATES > 2
  od_x felt;
#endif
} X(out);
typedef struct X(report) {
  od_x loss, stored;
#if OD_LAW_STATES > 0
  od_x deflection;
#endif
} X(report);

// The numbers that hold in the direction of v.
static inline const X(numbers) * X(numbers_of)(const X(numbers) * q, bool negative, X(numbers) * room) {
  if (!negative) return q;
  *room = *q;
  const od_x *other = (const od_x *)(q + 1);
  for (int i = 0; i < OD_SIDED; i++) ((od_x *)room)[i] = other[i];
  return room;
}

#ifdef OD_LAW_PLAIN
// The numbers with their factor times the signal.
static inline const X(numbers) * X(scaled)(const X(numbers) * q, od_x signal, X(numbers) * room) {
  od_x factor = q->factor * signal;
#ifndef OD_COMPLEX
  if (factor == 1) return q;
#endif
  *room = *q;
  X(scale)(room, od_x_log(X(least_factor)(factor)));
  return room;
}
static inline void X(respond)(const X(numbers) * q, const X(in) * in, X(out) * out) {
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
  X(respond)(X(numbers_of)(q, s.choice[0] && RE(in->speed) < 0, &room), in, out);
  out->force = -out->friction;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->friction * in->speed;
  r->stored = 0;
#if OD_LAW_STATES > 0
  // What the bristles store, and below what the mass stores that the acceleration term amounts to.
  X(numbers) room;
  const X(numbers) *side = X(numbers_of)(q, s.choice[0] && RE(in->speed) < 0, &room);
  X(family) f = X(family_of)(side, in->signal);
  r->deflection = in->bristle / f.sigma_0;
  r->stored = in->bristle * r->deflection / 2;
  r->loss -= r->deflection * out->bristle;
#if OD_LAW_STATES > 2
  r->stored += f.inertia * in->felt * in->felt / 2;
  r->loss -= f.inertia * in->felt * out->felt;
#endif
#endif
}

#if defined OD_LAW_PLAIN && !defined OD_COMPLEX
#define OD_ELEMENT_SLOPES
typedef struct slopes_r {
  struct {
    double speed, signal;
  } friction, force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  numbers_r room, scaled_room;
  const numbers_r *side = numbers_of_r(q, s.choice[0] && in->speed < 0, &room);
  plain_slopes d = friction_slopes(scaled_r(side, in->signal, &scaled_room), in->speed);
  by->friction.speed = d.speed;
  by->friction.signal = side->factor * in->signal > OD_FRICTION_LEAST_FACTOR ? d.log_factor / in->signal : 0;
  by->force.speed = -by->friction.speed, by->force.signal = -by->friction.signal;
}
#endif

// ---- as a block, whose inputs are the speed and a load or what its factor is multiplied by

static void X(evaluate_block)(const od_block_spec *s, const od_x *q, const od_x *x, const od_x *u, od_x *y,
                              od_x *rate) {
  X(numbers) room;
  X(in) in = {.speed = u[0], .signal = 1};
#if OD_LAW_STATES < 3
  if (s->choice[1]) in.signal = u[1];
#endif
  X(out) out;
  (void)x, (void)rate;
#if OD_LAW_STATES > 0
  in.bristle = x[0];
#endif
#if OD_LAW_STATES > 1
  in.film = x[1];
#endif
  const X(numbers) *side = X(numbers_of)((const X(numbers) *)q, s->choice[0] && RE(u[0]) < 0, &room);
#if OD_LAW_STATES > 2
  in.felt = x[2];
  if (side != &room) room = *side;
  room.load += u[1], side = &room;
#endif
  X(respond)(side, &in, &out);
  y[0] = out.friction;
#if OD_LAW_STATES > 0
  rate[0] = out.bristle;
#endif
#if OD_LAW_STATES > 1
  rate[1] = out.film;
#endif
#if OD_LAW_STATES > 2
  rate[2] = out.felt;
#endif
}

// ---- for the table of laws

static od_x X(steady)(const od_x *q, bool two_sided, od_x v) {
  X(numbers) room;
  return X(steady_of)(X(numbers_of)((const X(numbers) *)q, two_sided && RE(v) < 0, &room), v);
}
#ifndef OD_LAW_PLAIN
static void X(family_numbers)(const od_x *q, bool two_sided, bool negative, od_x signal, od_x family[OD_FAMILY_COUNT]) {
  X(numbers) room;
  *(X(family) *)family = X(family_of)(X(numbers_of)((const X(numbers) *)q, two_sided && negative, &room), signal);
}
#endif

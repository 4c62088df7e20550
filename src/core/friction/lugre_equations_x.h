// The equations of the LuGre family (lugre_family.h): Stribeck curve, bristles and film, and their derivatives. Included by
// law_functions_x.h.

// The Stribeck curve at a speed v: power = (|v|/vs)^n, S as a function of power, film = hss.
typedef struct X(stribeck) {
  od_x power, S, film;
  bool film_grows;  // whether hss increases with the speed
} X(stribeck);

// Returns the film of a direction at high speeds, 1 - Fc/Fs, which is the largest film of this direction. After a
// reversal, the film may still be the larger film of the other direction; then the level g may be less than Fc.
static inline od_x X(complete_film)(const X(family) * f) {
  return OD_SELECT(RE(f->Fs) > RE(f->Fc), 1 - f->Fc / f->Fs, 0);
}

// Returns the Stribeck curve and the film at the speed v, with powers of the speed smoothed near zero.
static inline X(stribeck) X(stribeck_at)(const X(family) * f, od_x v) {
  od_x r = v / f->vs, log_r = od_x_log(r * r + OD_FRICTION_REST_SPEED * OD_FRICTION_REST_SPEED) / 2;
  X(stribeck) c = {.power = r * r * od_x_exp((f->n - 2) * log_r)};
  c.S = OD_LAW_SHAPE == OD_STRIBECK_EXPONENTIAL ? od_x_exp(-c.power) : 1 / (1 + c.power);
#if OD_LAW_STATES != OD_STATES_BRISTLES
  od_x short_of = log_r - f->log_vb_vs, share = 1;
  c.film_grows = RE(short_of) < 0;
  if (c.film_grows) share = r * r * od_x_exp(short_of * (2.0 / 3) - 2 * log_r);
  c.film = X(complete_film)(f) * share;
#endif
  return c;
}

// Returns the level g, the force of the bristles in steady motion in N, for the value S of the Stribeck curve and the
// given film.
static inline od_x X(steady_level)(const X(family) * f, const X(stribeck) * c, od_x film) {
  // The film is between 0 and 1, but intermediate points of an iteration may be outside.
  film = OD_SELECT(RE(film) >= 1, 1, OD_SELECT(RE(film) < 0, 0, film));
  od_x g = f->Fc + ((1 - film) * f->Fs - f->Fc) * c->S, least = OD_FRICTION_LEAST_LEVEL * (f->Fs + f->Fc);
  return OD_SELECT(RE(g) <= RE(least), least, g);
}

// Returns the force in N in steady motion at speed v. signal multiplies the factor or the load.
static inline od_x X(steady_with)(const X(numbers) * q, od_x v, od_x signal) {
  X(family) f = X(family_of)(q, signal);
  X(stribeck) c = X(stribeck_at)(&f, v);
  od_x side = !OD_LAW_HAS_BRISTLES ? od_x_tanh(v / f.v0) : (RE(v) > 0) - (RE(v) < 0);
  return side * X(steady_level)(&f, &c, c.film) + f.viscous * v;
}

static inline od_x X(steady_of)(const X(numbers) * q, od_x v) {
  return X(steady_with)(q, v, 1);
}

#if !OD_LAW_HAS_BRISTLES
static inline void X(force_and_rates)(const X(numbers) * q, const X(in) * in, X(out) * out) {
  out->friction = X(steady_with)(q, in->speed, in->signal);
}
#else

#if OD_LAW_HAS_FILM_STATE
// Returns 1/tau of the film, in 1/s.
static inline od_x X(film_rate_constant)(const X(family) * f, od_x v, od_x film, od_x target) {
  od_x r = v / (OD_FRICTION_REST_SPEED * f->vs), moving = r * r / (1 + r * r);
  return OD_SELECT(RE(film) <= RE(target), f->growth_rate, f->rest_rate + (f->shrink_rate - f->rest_rate) * moving);
}
#endif

static inline void X(force_and_rates)(const X(numbers) * q, const X(in) * in, X(out) * out) {
  X(family) f = X(family_of)(q, in->signal);
  od_x v = in->speed, magnitude = OD_SELECT(RE(v) < 0, -v, v), film = 0;
  X(stribeck) c = X(stribeck_at)(&f, v);
#if OD_LAW_HAS_FILM_STATE
  film = in->film;
  out->film = X(film_rate_constant)(&f, v, film, c.film) * (c.film - film);
#endif
  od_x part = in->bristle / X(steady_level)(&f, &c, film), slip = v - magnitude * part;
  out->bristle = f.sigma_0 * slip;
  out->friction = in->bristle + f.sigma_1 * slip + f.viscous * v;
#if OD_LAW_HAS_ACCELERATION
  out->felt = (v - in->felt) / f.lag;
  od_x rest = OD_FRICTION_REST_SPEED * f.vs;
  out->friction += f.inertia * out->felt + f.film_force * v / od_x_sqrt(v * v + rest * rest) * out->film;
#endif
}
#endif

#ifndef OD_COMPLEX
typedef struct slopes_r {
  double by[sizeof(out_r) / sizeof(double)][sizeof(in_r) / sizeof(double)];
} slopes_r;

#if !OD_LAW_HAS_ACCELERATION
// Returns the derivatives of the parameters with respect to the signal. factor_slope: derivative of the product of
// factor and signal.
static inline family_signal_slopes slopes_of_family(const numbers_r *q, double signal, double factor_slope,
                                                    const family_r *f) {
  return slopes_of_scaled(f, q->factor * signal, factor_slope, q->powers);
}
#endif

// Derivatives of S and of the film hss with respect to the speed v.
typedef struct stribeck_slopes {
  double S, film;
} stribeck_slopes;
static inline stribeck_slopes slopes_of_stribeck(const family_r *f, const stribeck_r *c, double v) {
  double rest = OD_FRICTION_REST_SPEED * f->vs, square = v * v + rest * rest;
  // The derivative of r^2 (r^2 + e^2)^(n/2 - 1) with respect to v, from its value divided by v.
  double power = v != 0 ? c->power / v * (2 + (f->n - 2) * v * v / square) : 0;
  double film = v != 0 ? c->film / v * (2 - 4.0 / 3 * v * v / square) : 0;
  return (stribeck_slopes){.S = -power * (OD_LAW_SHAPE == OD_STRIBECK_EXPONENTIAL ? c->S : c->S * c->S),
                           .film = c->film_grows ? film : 0};
}

// Derivatives of S, of hss and of the least level with respect to the signal, from the derivatives w of the parameters.
typedef struct signal_slopes {
  double S, film, least;
} signal_slopes;
static inline signal_slopes slopes_by_signal(const family_r *f, const family_signal_slopes *w, const stribeck_r *c,
                                             const stribeck_slopes *d, double v) {
  double most = complete_film_r(f), per_vs = -v / f->vs * w->vs;
  signal_slopes by = {d->S * per_vs, d->film * per_vs, OD_FRICTION_LEAST_LEVEL * (w->Fs + w->Fc)};
  if (most > 0) by.film += c->film / most * (w->Fs * f->Fc / f->Fs - w->Fc) / f->Fs;
  return by;
}
static inline double level_by_signal(const family_r *f, const family_signal_slopes *w, const stribeck_r *c, double film,
                                     double S_slope) {
  return w->Fc * (1 - c->S) + (1 - film) * c->S * w->Fs + ((1 - film) * f->Fs - f->Fc) * S_slope;
}

// Computes the derivatives with the numbers q of one direction. product_slope: derivative of the product of signal and
// factor (or load) with respect to the signal.
static inline void law_slopes(const numbers_r *q, const in_r *in, double product_slope, slopes_r *by) {
  family_r f = family_of_r(q, in->signal);
  family_signal_slopes w = slopes_of_family(q, in->signal, product_slope, &f);
  double v = in->speed, film = 0;
  stribeck_r c = stribeck_at_r(&f, v);
  stribeck_slopes d = slopes_of_stribeck(&f, &c, v);
  enum { FRICTION, FORCE, BRISTLE, FILM, FELT, SIGNAL = OD_LAW_STATES + 1 };
  signal_slopes signal = slopes_by_signal(&f, &w, &c, &d, v);
#if !OD_LAW_HAS_BRISTLES
  film = c.film;
#elif OD_LAW_HAS_FILM_STATE
  film = in->film;
#endif
  double g = steady_level_r(&f, &c, film);
  double counted = fmax(fmin(film, 1), 0);
  double level = level_by_signal(&f, &w, &c, counted, signal.S);
  bool free_level = g > OD_FRICTION_LEAST_LEVEL * (f.Fs + f.Fc);
  double g_v = free_level ? ((1 - counted) * f.Fs - f.Fc) * d.S : 0;
  double g_h = free_level && film < 1 && film >= 0 ? -f.Fs * c.S : 0;
#if !OD_LAW_HAS_BRISTLES
  double t = tanh(v / f.v0);
  by->by[FRICTION][0] = g * (1 - t * t) / f.v0 + t * (g_v + g_h * d.film) + f.viscous;
  by->by[FRICTION][SIGNAL] = t * (free_level ? level + g_h * signal.film : signal.least) + w.viscous * v;
#else
  double magnitude = fabs(v), side = v < 0 ? -1 : 1, part = in->bristle / g, per_level = magnitude * part / g;
  double slip[4] = {1 - side * part + per_level * g_v, -magnitude / g, per_level * g_h};
  double slip_signal = per_level * (free_level ? level : signal.least);
  by->by[BRISTLE][SIGNAL] = f.sigma_0 * slip_signal;
  by->by[FRICTION][SIGNAL] = f.sigma_1 * slip_signal + w.viscous * v;
  for (int i = 0; i <= OD_LAW_STATES; i++) {
    by->by[BRISTLE][i] = f.sigma_0 * slip[i];
    by->by[FRICTION][i] = f.sigma_1 * slip[i] + (i == 0 ? f.viscous : i == 1 ? 1 : 0);
  }
#if OD_LAW_HAS_FILM_STATE
  double r = v / (OD_FRICTION_REST_SPEED * f.vs), pace = film_rate_constant_r(&f, v, film, c.film), below = 1 + r * r;
  double pace_v =
      film <= c.film ? 0 : (f.shrink_rate - f.rest_rate) * 2 * r / (below * below * OD_FRICTION_REST_SPEED * f.vs);
  by->by[FILM][0] = pace * d.film + pace_v * (c.film - film);
  by->by[FILM][1] = 0;
  by->by[FILM][2] = -pace;
  by->by[FILM][SIGNAL] = pace * signal.film + (c.film - film) * (w.tau * pace - pace_v * v / f.vs * w.vs);
#endif
#if OD_LAW_HAS_ACCELERATION
  // vs, inertia and film_force do not depend on the load.
  double rest = OD_FRICTION_REST_SPEED * f.vs, square = v * v + rest * rest, direction = v / sqrt(square);
  by->by[FILM][3] = 0;
  for (int i = 0; i <= SIGNAL; i++) {
    by->by[FELT][i] = i == 0 ? 1 / f.lag : i == 3 ? -1 / f.lag : 0;
    by->by[FRICTION][i] += f.inertia * by->by[FELT][i] + f.film_force * direction * by->by[FILM][i];
  }
  by->by[FRICTION][0] += f.film_force * rest * rest / (square * sqrt(square)) * pace * (c.film - film);
#endif
#endif
  for (int i = 0; i <= SIGNAL; i++) by->by[FORCE][i] = -by->by[FRICTION][i];
}
#endif

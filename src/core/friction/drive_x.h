// From node to node, in the scalar of the build. With the speed a straight line in between, s its direction:
//
// Film: hss is taken as a straight line in time, so that with E = exp(-dt/tau)
//   h1 = hss1 + (h0 - hss0) E - (hss1 - hss0) (1 - E) tau/dt
// It grows where it is below the mean of both hss; it rests where both speeds are zero.
// Bristles: over the distance |dx|, with g as a straight line in it, a = sigma_0 |dx|/g in the mean and E = exp(-a)
//   y1 = s g1 + (y0 - s g0) E - s (g1 - g0) (1 - E)/a
// Both are of second order, and right in the limit of any stiffness: y then follows s g with its lag.
typedef struct X(drive_side) {
  X(family) f;
  od_x log_vs, most_film, film_gain, least_level;  // hss = most_film * film_gain |v|^(2/3) while that is below one
} X(drive_side);

typedef struct X(drive_node) {
  od_x S, film;
} X(drive_node);

// 1/tau and its exponential over dt, kept while neither changes by more than rounding.
typedef struct X(pace) {
  double dt;
  od_x rate, E, phi;  // phi = (1 - E)/(rate dt)
} X(pace);

// (1 - exp(-a))/a, given the exponential.
static inline od_x X(mean_decay)(od_x a, od_x E) {
  return OD_SELECT(RE(a) > 1e-5, (1 - E) / a, 1 - a / 2 + a * a / 6);
}

static inline void X(set_pace)(X(pace) * p, double dt, od_x rate) {
  // Steps of even logs differ by rounding.
  if (fabs(p->dt - dt) <= 1e-9 * dt && p->rate == rate) return;
  p->dt = dt, p->rate = rate;
  p->E = od_x_exp(-dt * rate);
  p->phi = X(mean_decay)(dt * rate, p->E);
}

static inline void X(drive_sides)(const od_friction_law *law, const od_x *q, bool two_sided, double signal,
                                  X(drive_side) side[2]) {
  for (int i = 0; i < 2; i++) {
    X(drive_side) *s = &side[i];
    law->X(family)(q, two_sided, i == 1, signal, (od_x *)&s->f);
    s->log_vs = od_x_log(s->f.vs);
    s->most_film = OD_SELECT(RE(s->f.Fs) > RE(s->f.Fc), 1 - s->f.Fc / s->f.Fs, 0);
    s->film_gain = od_x_exp(-(s->log_vs + s->f.end) * (2.0 / 3));
    s->least_level = OD_FRICTION_LEAST_LEVEL * (s->f.Fs + s->f.Fc);
  }
}

static inline X(drive_node)
    X(node_at)(const od_friction_law *law, const X(drive_side) side[2], const od_friction_grid *grid, int i) {
  if (grid->v[i] == 0) return (X(drive_node)){1, 0};
  const X(drive_side) *s = &side[grid->v[i] < 0];
  od_x power = od_x_exp(s->f.n * (grid->log_speed[i] - s->log_vs)), share = s->film_gain * grid->film_power[i];
  X(drive_node) node = {.S = law->shape == OD_STRIBECK_EXPONENTIAL ? od_x_exp(-power) : 1 / (1 + power)};
  node.film = s->most_film * OD_SELECT(RE(share) < 1, share, 1);
  return node;
}

static inline od_x X(drive_level)(const X(drive_side) * s, od_x S, od_x film) {
  film = OD_SELECT(RE(film) >= 1, 1, OD_SELECT(RE(film) < 0, 0, film));
  od_x g = s->f.Fc + ((1 - film) * s->f.Fs - s->f.Fc) * S;
  return OD_SELECT(RE(g) <= RE(s->least_level), s->least_level, g);
}

// Where a run is: at a node, with its states; level and rate of the film as the step before ended.
typedef struct X(drive_state) {
  od_x bristle, film, film_rate;
  X(drive_node) node;
} X(drive_state);

static inline void X(step_film)(const od_friction_law *law, const X(drive_side) * s, const od_friction_grid *grid,
                                int i, X(drive_node) next, X(pace) * pace, X(drive_state) * x) {
  if (!law->has_film) {
    x->film = law->has_bristles ? 0 : next.film;
    return;
  }
  double dt = grid->t[i + 1] - grid->t[i];
  od_x now = x->node.film;
  bool rests = grid->v[i] == 0 && grid->v[i + 1] == 0, grows = 2 * RE(x->film) <= RE(now) + RE(next.film);
  int which = rests ? 2 : grows ? 0 : 1;
  X(set_pace)(&pace[which], dt, rests ? s->f.rest : grows ? s->f.grow : s->f.shrink);
  const X(pace) *p = &pace[which];
  x->film = next.film + (x->film - now) * p->E - (next.film - now) * p->phi;
  x->film_rate = (next.film - x->film) * p->rate;
}

// The force at a node that a step of direction s ended at.
static inline od_x X(node_force)(const od_friction_law *law, const X(drive_side) * s, double v, double acceleration,
                                 od_x level, const X(drive_state) * x) {
  if (!law->has_bristles) return od_x_tanh(v / s->f.v0) * level + s->f.viscous * v;
  od_x slip = v - fabs(v) * x->bristle / level;
  return x->bristle + s->f.sigma_1 * slip + s->f.viscous * v + s->f.inertia * acceleration +
         s->f.film_force * ((v > 0) - (v < 0)) * x->film_rate;
}

// The step from node i to the next; returns the level there.
static inline od_x X(drive_step)(const od_friction_law *law, const X(drive_side) * s, const od_friction_grid *grid,
                                 int i, X(drive_node) next, X(pace) * pace, X(drive_state) * x) {
  od_x film = x->film;
  X(step_film)(law, s, grid, i, next, pace, x);
  od_x level = X(drive_level)(s, next.S, x->film);
  if (law->has_bristles) {
    double sum = grid->v[i] + grid->v[i + 1], distance = fabs(sum) / 2 * (grid->t[i + 1] - grid->t[i]);
    double sign = (sum > 0) - (sum < 0);
    od_x before = X(drive_level)(s, x->node.S, film), a = 2 * s->f.sigma_0 * distance / (before + level);
    od_x E = od_x_exp(-a);
    if (distance > 0)
      x->bristle = sign * level + (x->bristle - sign * before) * E - sign * (level - before) * X(mean_decay)(a, E);
  }
  x->node = next;
  return level;
}

static inline od_status X(drive_family)(const od_friction_law *law, const od_x *q, bool two_sided,
                                        const od_friction_grid *grid, const od_friction_start *start, od_x *force,
                                        od_x *bristle, od_x *film) {
  X(drive_side) side[2];
  X(drive_sides)(law, q, two_sided, start->signal, side);
  X(pace) pace[2][3] = {{{0}}};
  X(drive_state) x = {.bristle = start->bristle, .film = start->film, .node = X(node_at)(law, side, grid, 0)};
  if (!law->has_film) x.film = law->has_bristles ? 0 : x.node.film;
  const X(drive_side) *s = &side[grid->v[0] < 0];
  od_x level = X(drive_level)(s, x.node.S, x.film);
  for (int i = 0; i < grid->nodes; i++) {
    double acceleration = 0;
    if (i > 0) {
      double step = grid->t[i] - grid->t[i - 1];
      s = &side[grid->v[i - 1] + grid->v[i] < 0];
      level = X(drive_step)(law, s, grid, i - 1, X(node_at)(law, side, grid, i), pace[s - side], &x);
      acceleration = (grid->v[i] - grid->v[i - 1]) / step;
    }
    int k = grid->sample[i];
    if (k < 0) continue;
    od_x value = X(node_force)(law, s, grid->v[i], acceleration, level, &x);
    if (force) force[k] = value;
    if (bristle) bristle[k] = x.bristle;
    if (film) film[k] = x.film;
    if (!isfinite(RE(value))) return OD_NOT_FINITE;
  }
  return OD_OK;
}

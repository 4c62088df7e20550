// The equations of blocks: outputs y and rates x' of one block from its numbers q, states x and inputs u.
//
// Linear blocks with one input are transfer functions b(s)/a(s) with the states v, v', ... of v = u/a(s):
//   a_n v^(n) = u - sum a_i v^(i),   y = sum b_i v^(i)   (i = 0 .. n, coefficients in ascending powers here)
// Limits act by back-calculation: beyond them an integral is led back with the time constant Tt.
//   integrator    x' = k u - (x - y)/Tt,  y = x within the limits
//   PID           v = kp e + I + kd (e - f)/Tf,  I' = ki e + (y - v)/Tt,  f' = (e - f)/Tf,  y = v within the limits
// Tt of a PID is given or follows its gains: Ti for a PI controller, sqrt(Ti Td) with a derivative part, Ti = kp/ki,
// Td = kd/kp (Astrom and Hagglund, source 27 in docs/theory.md). Without ki there is no integral to lead back.
//   linear valve  Q = Kq i - Kc pL
//   load chamber  pL' = 4 B/V (Q - A v - C pL)
//   mass          m v' = A pL - d v - k x - F
// The three of a linear axis: Merritt, Hydraulic Control Systems, 1967 (source 22 in docs/theory.md).

typedef struct X(rational) {
  int n;  // degree of the denominator
  od_x b[OD_MOST_BLOCK_ORDER + 1], a[OD_MOST_BLOCK_ORDER + 1];
} X(rational);

// exp(-T s) as b(s)/a(s) of order n, b_k = (-1)^k a_k: a_k = (2n - k)! n! / ((2n)! k! (n - k)!) T^k.
static inline void pade_coefficients(int n, od_x T, X(rational) * r) {
  od_x term = 1;
  for (int k = 0; k <= n; k++) {
    r->a[k] = term;
    r->b[k] = k % 2 ? -term : term;
    term *= T * (double)(n - k) / (double)((2 * n - k) * (k + 1));
  }
}

static inline void block_coefficients(const od_block *block, const od_x *q, X(rational) * r) {
  const od_block_spec *s = &block->spec;
  r->n = block->states;
  for (int i = 0; i <= r->n; i++) r->a[i] = r->b[i] = 0;
  r->a[0] = 1;
  r->b[0] = q[0];
  od_x T;
  switch (s->kind) {
    case OD_BLOCK_FIRST_ORDER: r->a[1] = q[1]; break;
    case OD_BLOCK_LEAD_LAG:
      r->b[1] = q[0] * q[1];
      r->a[1] = q[2];
      break;
    case OD_BLOCK_SECOND_ORDER:
    case OD_BLOCK_NOTCH:
      T = s->by_time ? q[1] : 1 / q[1];
      r->a[1] = 2 * q[s->kind == OD_BLOCK_NOTCH ? 3 : 2] * T;
      r->a[2] = T * T;
      if (s->kind == OD_BLOCK_SECOND_ORDER) break;
      r->b[1] = 2 * q[0] * q[2] * T;
      r->b[2] = q[0] * T * T;
      break;
    case OD_BLOCK_TRANSFER:
      for (int i = 0; i <= s->numerator; i++) r->b[i] = q[s->numerator - i];
      for (int i = 0; i <= s->order; i++) r->a[i] = q[s->numerator + 1 + s->order - i];
      break;
    case OD_BLOCK_DELAY: pade_coefficients(s->order, q[0], r); break;
    default: break;  // a gain
  }
}

static inline void rational_evaluate(const od_block *block, const od_x *q, const od_x *x, od_x u, od_x *y, od_x *rate) {
  X(rational) r;
  block_coefficients(block, q, &r);
  od_x top = u;  // the highest derivative of v
  for (int i = 0; i < r.n; i++) top -= r.a[i] * x[i];
  top /= r.a[r.n];
  y[0] = r.b[r.n] * top;
  for (int i = 0; i < r.n; i++) y[0] += r.b[i] * x[i];
  if (block->outputs > 1) y[1] = r.b[0] * x[1];
  for (int i = 0; rate && i < r.n; i++) rate[i] = i + 1 < r.n ? x[i + 1] : top;
}

static inline od_x clamp_x(od_x v, const od_x *limits) {
  return RE(v) < RE(limits[0]) ? limits[0] : RE(v) > RE(limits[1]) ? limits[1] : v;
}

// 1/Tt of a PID. Written with rates, it goes to zero with ki, with a finite slope where kp is there.
//   - With a derivative part Tt is at least Ti/10: sqrt(Ti Td) alone goes to zero with kd, and a spike of the derivative
//     would empty the integral.
//   - A pure I controller has no time constant in its gains; the shorter Tt is the better, so it gets the least.
static inline od_x pid_tracking(const od_block *block, const od_x *q) {
  const double most = 1 / 1e-3, of_integral = 10;  // 1/s; 1/Tt is at most so many times 1/Ti
  od_x kp = q[0], ki = q[1], kd = block->spec.derivative ? q[2] : 0;
  bool pure = RE(kp) == 0 && RE(kd) == 0;
  if (RE(ki) == 0 && (!block->spec.tracks_by_gains || RE(kp) == 0)) return 0;
  if (!block->spec.tracks_by_gains) return 1 / q[6];
  if (pure) return most;
  od_x rate = RE(kp) != 0 ? ki / kp : 0;
  if (RE(rate) < 0) rate = -rate;
  if (RE(kd) != 0) {
    od_x square = ki / kd;
    if (RE(square) < 0) square = -square;
    bool near_ti = RE(kp) != 0 && of_integral * of_integral * RE(rate) * RE(rate) <= RE(square);
    rate = near_ti ? of_integral * rate : od_x_sqrt(square);
  }
  return RE(rate) < most ? rate : most;
}

static inline void pid_evaluate(const od_block *block, const od_x *q, const od_x *x, od_x e, od_x *y, od_x *rate) {
  od_x slope = block->spec.derivative ? (e - x[1]) / q[3] : 0;
  od_x v = q[0] * e + x[0] + q[2] * slope;
  y[0] = block->spec.limited ? clamp_x(v, q + 4) : v;
  if (!rate) return;
  rate[0] = q[1] * e;
  if (block->spec.limited) rate[0] += (y[0] - v) * pid_tracking(block, q);
  if (block->spec.derivative) rate[1] = slope;
}

static void X(block_evaluate)(const od_block *block, const od_x *q, const od_x *x, const od_x *u, od_x *y, od_x *rate) {
  if (block->spec.sample > 0) {
    y[0] = x[block->states - 1];
    for (int i = 0; rate && i < block->states; i++) rate[i] = 0;
    return;
  }
  switch (block->spec.kind) {
    case OD_BLOCK_SUM:
      y[0] = 0;
      for (int i = 0; i < block->inputs; i++) y[0] += q[i] * u[i];
      return;
    case OD_BLOCK_PRODUCT:
      y[0] = q[0];
      for (int i = 0; i < block->inputs; i++) y[0] *= u[i];
      return;
    case OD_BLOCK_INTEGRATOR:
      y[0] = block->spec.limited ? clamp_x(x[0], q + 1) : x[0];
      if (rate) rate[0] = q[0] * u[0];
      if (rate && block->spec.limited) rate[0] -= (x[0] - y[0]) / q[3];
      return;
    case OD_BLOCK_SATURATION: y[0] = clamp_x(u[0], q); return;
    case OD_BLOCK_DEAD_ZONE: y[0] = u[0] - clamp_x(u[0], q); return;
    case OD_BLOCK_PID: pid_evaluate(block, q, x, u[0], y, rate); return;
    case OD_BLOCK_LINEAR_VALVE: y[0] = q[0] * u[0] - q[1] * u[1]; return;
    case OD_BLOCK_LOAD_CHAMBER:
      y[0] = x[0];
      if (rate) rate[0] = 4 * q[0] / q[1] * (u[0] - q[2] * u[1] - q[3] * x[0]);
      return;
    case OD_BLOCK_MASS:
      y[0] = x[0];
      y[1] = x[1];
      if (!rate) return;
      rate[0] = x[1];
      rate[1] = (q[1] * u[0] - q[2] * x[1] - q[3] * x[0] - u[1]) / q[0];
      return;
    default: rational_evaluate(block, q, x, u[0], y, rate);
  }
}

// ---- samples

// A PID once per sample: the integral adds up e T, the derivative's filter steps implicitly.
static inline void pid_sample(const od_block *block, const od_x *q, const od_x *x, od_x e, od_x *next) {
  double T = block->spec.sample;
  od_x slope = block->spec.derivative ? (e - x[1]) / (q[3] + T) : 0;
  od_x v = q[0] * e + x[0] + q[2] * slope, y = block->spec.limited ? clamp_x(v, q + 4) : v;
  next[0] = x[0] + T * q[1] * e;
  if (block->spec.limited) {
    od_x part = T * pid_tracking(block, q);
    next[0] += (y - v) * (RE(part) < 1 ? part : 1);
  }
  if (block->spec.derivative) next[1] = x[1] + T * slope;
  next[block->states - 1] = y;
}

// b(z)/a(z) with the states v[k-1], v[k-2], ... of v = u/a.
static inline void transfer_sample(const od_block *block, const od_x *q, const od_x *x, od_x u, od_x *next) {
  int n = block->spec.order, lead = n - block->spec.numerator;
  const od_x *a = q + block->spec.numerator + 1;
  od_x v = u, y = 0;
  for (int i = 1; i <= n; i++) v -= a[i] * x[i - 1];
  v /= a[0];
  for (int i = lead; i <= n; i++) y += q[i - lead] * (i == 0 ? v : x[i - 1]);
  for (int i = n - 1; i > 0; i--) next[i] = x[i - 1];
  if (n > 0) next[0] = v;
  next[n] = y;
}

// The states after a sample, the held output last. A delay knows its own from elsewhere.
static void X(block_sample)(const od_block *block, const od_x *q, const od_x *x, od_x u, od_x *next) {
  switch (block->spec.kind) {
    case OD_BLOCK_GAIN: next[0] = q[0] * u; return;
    case OD_BLOCK_INTEGRATOR: {
      double T = block->spec.sample;
      next[0] = x[0] + T * q[0] * u;
      next[1] = block->spec.limited ? clamp_x(next[0], q + 1) : next[0];
      if (block->spec.limited) next[0] += (next[1] - next[0]) * (RE(q[3]) > T ? T / q[3] : 1);
      return;
    }
    case OD_BLOCK_PID: pid_sample(block, q, x, u, next); return;
    case OD_BLOCK_TRANSFER: transfer_sample(block, q, x, u, next); return;
    default: next[0] = x[0];
  }
}

// ---- all blocks

static inline void gather_inputs(const od_model *m, const od_x *w, const od_block *b, od_x *u) {
  for (int k = 0; k < b->inputs; k++) {
    int source = m->block_line[b->line + k].source;
    u[k] = source >= 0 ? w[m->layout.u + source] : 0;
  }
}

// Signals in the order of dependence; then, with all of them known, rates.
static void X(blocks_evaluate)(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  od_x u[OD_MOST_BLOCK_INPUTS], y[OD_MOST_BLOCK_OUTPUTS];
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[m->block_order[i]];
    gather_inputs(m, w, b, u);
    X(block_evaluate)(b, w + l->theta + b->number, w + l->c + b->state, u, w + l->u + b->signal, NULL);
  }
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    if (b->states == 0) continue;
    gather_inputs(m, w, b, u);
    X(block_evaluate)(b, w + l->theta + b->number, w + l->c + b->state, u, y, w + l->rate + b->state);
  }
}

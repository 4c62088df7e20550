// Springs and dampers, between two points or in a joint:
//   tension = stiffness (x - free) + damping x' + preload
typedef struct X(in) {
  od_x x, rate;
} X(in);
typedef struct X(numbers) {
  od_x stiffness, damping, free, preload;
} X(numbers);
typedef struct X(out) {
  od_x tension, force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  out->tension = q->stiffness * (in->x - q->free) + q->damping * in->rate + q->preload;
  out->force = -out->tension;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s, (void)out;
  od_x stretch = in->x - q->free;
  r->loss = q->damping * in->rate * in->rate;
  r->stored = q->stiffness * stretch * stretch / 2 + q->preload * stretch;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r tension, force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)in, (void)s, (void)out;
  *by = (slopes_r){{q->stiffness, q->damping}, {-q->stiffness, -q->damping}};
}
#endif

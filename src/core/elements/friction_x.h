// What friction laws have in common: a force against a speed, in a cylinder or in a joint. To be included in the text of a
// law, behind X(numbers) and X(friction), which is the force against a speed v.
typedef struct X(in) {
  od_x speed;
} X(in);
typedef struct X(out) {
  od_x friction, force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  out->friction = X(friction)(q, in->speed);
  out->force = -out->friction;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->friction * in->speed;
  r->stored = 0;
}

#ifndef OD_COMPLEX
#define OD_ELEMENT_SLOPES
typedef struct slopes_r {
  struct {
    double speed;
  } friction, force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)s, (void)out;
  by->friction.speed = friction_slope(q, in->speed);
  by->force.speed = -by->friction.speed;
}
#endif

// Common part of elements between two nodes: one flow from `from` to `to`. All power of the flow is a loss. Included in the text of
// an element, after its X(in) and X(numbers).
typedef struct X(out) {
  od_x flow;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->flow * (in->from - in->to);
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow;
} slopes_r;
#endif

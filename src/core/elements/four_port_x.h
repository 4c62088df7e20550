// Common part of valves between two lines and the ports a and b: the sums of the edges' flows at the four ends, and the loss.
// Included after X(in) with first, second, a and b, and X(out) with to_first, to_second, to_a and to_b, the flows out of the
// valve. The tables of these valves are in servo_spool_tables.h.
typedef struct X(report) {
  od_x loss, stored;
} X(report);

// Flows across the edges from a line to a port.
typedef struct X(edge_flows) {
  od_x first_a, second_a, first_b, second_b;
} X(edge_flows);

static inline void X(join_edges)(const X(edge_flows) * q, X(out) * out) {
  out->to_first = -q->first_a - q->first_b;
  out->to_second = -q->second_a - q->second_b;
  out->to_a = q->first_a + q->second_a;
  out->to_b = q->first_b + q->second_b;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = -(in->first * out->to_first + in->second * out->to_second + in->a * out->to_a + in->b * out->to_b);
  r->stored = 0;
}

// Common part of valves between two lines and the ports a and b: the sums of the edges' flows at the four ends, and the loss.
// Included after X(in) with first, second, a and b, X(out) with to_first, to_second, to_a and to_b, the flows out of the valve,
// slopes_r with the same rows, and servo_spool_x.h. The tables of these valves are in servo_spool_tables.h.
typedef struct X(report) {
  od_x loss, stored;
} X(report);

// Flows across the four edges, each from a line to a port.
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

#ifndef OD_COMPLEX
typedef struct four_edge_slopes {
  edge_slopes first_a, second_a, first_b, second_b;
} four_edge_slopes;

static inline void join_edge_slopes(const four_edge_slopes *d, slopes_r *by) {
  by->to_first.first = -d->first_a.dp - d->first_b.dp;
  by->to_second.second = -d->second_a.dp - d->second_b.dp;
  by->to_a.a = -d->first_a.dp - d->second_a.dp;
  by->to_b.b = -d->first_b.dp - d->second_b.dp;
  by->to_first.a = by->to_a.first = d->first_a.dp;
  by->to_first.b = by->to_b.first = d->first_b.dp;
  by->to_second.a = by->to_a.second = d->second_a.dp;
  by->to_second.b = by->to_b.second = d->second_b.dp;
  by->to_first.spool = -d->first_a.spool - d->first_b.spool;
  by->to_second.spool = -d->second_a.spool - d->second_b.spool;
  by->to_a.spool = d->first_a.spool + d->second_a.spool;
  by->to_b.spool = d->first_b.spool + d->second_b.spool;
}
#endif

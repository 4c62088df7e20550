#include "experiment/encoder.h"

#include <math.h>

#include "random/random.h"

enum { RING = OD_MOST_ENCODER_EDGES + 1 };  // length of the ring buffers

// --- Edges --------------------------------------------------------------------------------------------------------

// Returns the position of edge k, including its error.
static double edge_at(const od_encoder *e, const od_encoder_memory *m, double k) {
  double error = 0;
  if (e->pulse_error > 0)
    error = e->pulse_error * (2 * od_random_uniform(m->seed, m->stream, (uint64_t)(int64_t)k, OD_USE_EDGES) - 1);
  return (k + 0.5) * e->pitch + error;
}

double od_encoder_count(const od_encoder *e, const od_encoder_memory *m, double x) {
  double count = floor(x / e->pitch + 0.5);
  if (x >= edge_at(e, m, count)) return count + 1;
  return x < edge_at(e, m, count - 1) ? count - 1 : count;
}

// --- The path between two samples -----------------------------------------------------------------------------------

// The path x = x0 + s (a + s (b + s c)). s is the elapsed fraction, 0 to 1, of the time h (s) between the samples.
typedef struct path {
  double x0, a, b, c, h;
} path;

static double path_at(const path *p, double s) {
  return p->x0 + s * (p->a + s * (p->b + s * p->c));
}

// Finds the points in (0, 1) where the path reverses: at most two, in ascending order. Returns their number.
static int find_turns(const path *p, double turn[2]) {
  double A = 3 * p->c, B = 2 * p->b, C = p->a, root = B * B - 4 * A * C, found[2];
  if (!(root > 0) && A != 0) return 0;
  double q = -0.5 * (B + copysign(sqrt(fmax(root, 0)), B));
  int count = 0, within = 0;
  if (A != 0) found[count++] = q / A;
  if (q != 0) found[count++] = C / q;
  if (count == 2 && found[0] > found[1]) {
    double swap = found[0];
    found[0] = found[1];
    found[1] = swap;
  }
  for (int i = 0; i < count; i++)
    if (found[i] > 0 && found[i] < 1) turn[within++] = found[i];
  return within;
}

// Returns the parameter s at which the path passes a position. `low` and `high` are the ends of a monotonic piece.
static double find_passing(const path *p, double wanted, double low, double high) {
  bool rises = path_at(p, high) > path_at(p, low);
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    if ((path_at(p, middle) >= wanted) == rises)
      high = middle;
    else
      low = middle;
  }
  return high;
}

// --- Passing edges ----------------------------------------------------------------------------------------------

// Records the edges of a monotonic piece of the path. Only the last edges determine the velocity, so only the last edges are
// timed.
static void pass_piece(const od_encoder *e, od_encoder_memory *m, const path *p, double low, double high,
                       double *count) {
  double end = od_encoder_count(e, m, path_at(p, high)), way = end > *count ? 1 : -1;
  double left = fabs(end - *count);
  if (left > e->edges + 1) *count = end - way * (e->edges + 1);
  for (double k = *count; k != end; k += way) {
    double edge = way > 0 ? k : k - 1;
    double t = m->t + p->h * find_passing(p, edge_at(e, m, edge), low, high);
    int at = (int)(m->passed++ % RING);
    m->time[at] = e->timer > 0 ? floor(t / e->timer) : t;
    m->place[at] = edge;
  }
  *count = end;
}

// Returns the velocity at time t, computed from the last edges.
static double velocity_of_edges(const od_encoder *e, const od_encoder_memory *m, double t) {
  if (m->passed < 2) return 0;
  long over = m->passed - 1 < e->edges ? m->passed - 1 : e->edges;
  int last = (int)((m->passed - 1) % RING), first = (int)((m->passed - 1 - over) % RING);
  double unit = e->timer > 0 ? e->timer : 1;
  if (e->standstill > 0 && t - m->time[last] * unit > e->standstill) return 0;
  // If two edges pass within one tick, the timer gives only an upper limit of one tick.
  double ticks = m->time[last] - m->time[first];
  if (e->timer > 0) ticks = fmax(ticks, 1);
  return ticks > 0 ? e->pitch * (m->place[last] - m->place[first]) / (ticks * unit) : 0;
}

double od_encoder_velocity(const od_encoder *e, od_encoder_memory *m, double t, double x, double v) {
  // Beyond this position neighboring counts are the same floating-point number.
  if (!(fabs(x / e->pitch) < 0x1p50) || !isfinite(v)) return NAN;
  if (m->has_begun && t > m->t) {
    double turn[3], count = od_encoder_count(e, m, m->x), low = 0;
    double h = t - m->t, d = x - m->x;
    const path p = {m->x, m->v * h, 3 * d - h * (2 * m->v + v), h * (m->v + v) - 2 * d, h};
    int turns = find_turns(&p, turn);
    turn[turns] = 1;
    for (int i = 0; i <= turns; i++) {
      pass_piece(e, m, &p, low, turn[i], &count);
      low = turn[i];
    }
  }
  m->has_begun = true;
  m->t = t;
  m->x = x;
  m->v = v;
  return velocity_of_edges(e, m, t);
}

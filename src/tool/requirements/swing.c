#include "requirements/swing.h"

#include <math.h>

#include "base/allocate.h"
#include "document/index.h"

// Returns whether point b is on or below the line from point a to point c.
static bool is_covered(const od_swing_point *a, const od_swing_point *b, const od_swing_point *c) {
  return (b->v - a->v) * (c->t - a->t) <= (c->v - a->v) * (b->t - a->t);
}

// Adds a point to an upper hull and removes the points that are then on or below the hull. False: out of memory.
static bool push(od_swing_point **hull, int *count, int *capacity, od_swing_point p) {
  while (*count >= 2 && is_covered(&(*hull)[*count - 2], &(*hull)[*count - 1], &p)) (*count)--;
  od_swing_point *grown = od_grow(*hull, *count, capacity, sizeof **hull);
  if (!grown) return false;
  *hull = grown;
  (*hull)[(*count)++] = p;
  return true;
}

bool od_swing_add(od_swing *s, double t, double v) {
  // The lower hull is stored as the upper hull of the points with reversed sign.
  return push(&s->upper, &s->uppers, &s->upper_capacity, (od_swing_point){t, v}) &&
         push(&s->lower, &s->lowers, &s->lower_capacity, (od_swing_point){t, -v});
}

static double farthest(const od_swing_point *hull, int count, double *at) {
  double most = 0, span = count > 0 ? hull[count - 1].t - hull[0].t : 0;
  if (!(span > 0)) return 0;
  double slope = (hull[count - 1].v - hull[0].v) / span;
  for (int i = 0; i < count; i++) {
    double above = hull[i].v - hull[0].v - slope * (hull[i].t - hull[0].t);
    if (above > most) most = above, *at = hull[i].t;
  }
  return most;
}

double od_swing_size(const od_swing *s, double *at) {
  double up_at = NAN, down_at = NAN;
  double up = farthest(s->upper, s->uppers, &up_at), down = farthest(s->lower, s->lowers, &down_at);
  *at = up >= down ? up_at : down_at;
  return up + down;
}

void od_swing_free(od_swing *s) {
  od_free(s->upper);
  od_free(s->lower);
  *s = (od_swing){0};
}

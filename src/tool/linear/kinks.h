// Kinks: where the slopes of a machine differ on the two sides of an operating point, as at the edge of a spool that just
// closes, at the end of a dead zone, or in friction that turns round.
#ifndef OD_LINEAR_KINKS_H
#define OD_LINEAR_KINKS_H

#include "linear/operating_point.h"

// All derivatives of the plant at a point.
typedef struct od_slopes {
  int nx, nu, ny;
  double *f, *fx, *fu, *y, *hx, *hu;
} od_slopes;

// False: memory ran out.
bool od_slopes_begin(od_slopes *slopes, const od_plant *plant);
void od_slopes_end(od_slopes *slopes);
od_status od_slopes_find(od_slopes *slopes, od_sim *sim);

// Where the derivatives by a state or an input differ on its two sides, puts their mean in place of those at the point, where
// each port of a valve may count as closed. kinked (nx + nu): which these are; cause: of each of them what has the kink, or -1.
od_status od_kinks_find(const od_operating_point *point, od_slopes *slopes, bool *kinked, int *cause);

// Which rates of coordinates (narrow has nx entries) need not change by more than 5 mm/s or 5 mrad/s for the slopes to become others,
// by more than half of the largest in their row, because the derivatives of an element or a block (cause) change: of friction at rest in most cases. What the linear model
// says holds for smaller movements then. Slopes that change because the mechanism stands elsewhere or moves are not meant.
#define OD_NARROW_SPEED 5e-3
#define OD_NARROW_WORDS "5 mm/s or 5 mrad/s"
od_status od_kinks_find_narrow(const od_operating_point *point, const od_slopes *slopes, const bool *kinked,
                               bool *narrow, int *cause);

// A cause in words, of an element, a block or an output: "the friction of 'ram'", "the servo valve 'sv'"; empty where it is -1.
void od_part_text(const od_machine *machine, int which, char *text, size_t size);

#endif

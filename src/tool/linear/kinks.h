// Kinks: the slopes of a machine differ on the two sides of an operating point. Examples are the edge of a spool that just
// closes, the end of a dead zone, and friction at zero speed.
#ifndef OD_LINEAR_KINKS_H
#define OD_LINEAR_KINKS_H

#include "base/arena.h"
#include "linear/operating_point.h"

// All derivatives of the plant at a point.
typedef struct od_slopes {
  int nx, nu, ny;
  double *f, *fx, *fu, *y, *hx, *hu;
} od_slopes;

// Allocates the matrices in the arena. Fails with OD_NO_MEMORY or a status of the simulation.
od_slopes od_slopes_new(od_arena *arena, const od_plant *plant);
od_status od_slopes_find(od_slopes *slopes, od_sim *sim);
// Returns whether the rate of a state is zero and depends on no state and no input.
bool od_slopes_is_constant(const od_slopes *slopes, int state);

// Compares the derivatives with respect to each state and input on its two sides. Derivatives that differ are replaced by their
// mean. The derivatives at the point itself are not used, because each port of a valve may count as closed at this point. kinked
// (nx + nu): the states and inputs with kinks. cause (nx + nu): the part with the kink, or an output, as an index for
// od_part_text(); -1: not known. Fails with OD_NO_MEMORY.
od_status od_kinks_find(const od_operating_point *point, od_slopes *slopes, bool *kinked, int *cause);

// Finds rates of coordinates for which the linear model is valid only for small changes. For such a rate, a change of at most 5
// mm/s or 5 mrad/s is large: a slope changes by more than half of the largest slope in its row. In most cases the reason is
// friction at rest. Slopes that change because of the position or speed of the mechanism are not reported. narrow (nx): the rates
// that were found. cause (nx): the element or the block whose derivatives change. Fails with OD_NO_MEMORY.
#define OD_NARROW_SPEED 5e-3
#define OD_NARROW_WORDS "5 mm/s or 5 mrad/s"
od_status od_kinks_find_narrow(const od_operating_point *point, const od_slopes *slopes, const bool *kinked,
                               bool *narrow, int *cause);

// Writes the name of a cause, which is an element, a block or an output: "the friction of 'ram'", "the servo valve 'sv'"; empty
// for -1.
void od_part_text(const od_machine *machine, int which, char *text, size_t size);

#endif

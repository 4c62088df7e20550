// Driven laws in complex numbers: derivatives by complex steps for parameters that vary from node to node. Tests compare these
// derivatives with the derivatives of drive_slopes.c.
#define OD_COMPLEX
#include "friction/drive_nodes_x.h"

static void put_force(void *to, int sample, double _Complex force, double _Complex bristle, double _Complex film) {
  (void)bristle, (void)film;
  ((double _Complex *)to)[sample] = force;
}

od_status od_friction_drive_complex(const od_friction_law *law, const double _Complex *q, bool two_sided,
                                    const od_friction_grid *grid, const od_friction_start *start,
                                    double _Complex *force) {
  nodes_c n = {.law = law, .q = q, .two_sided = two_sided, .grid = grid, .start = start};
  return go_through_c(&n, put_force, force);
}

// One column of derivatives.
typedef struct column {
  double *dforce;
  int columns;
} column;
static void put_column(void *to, int sample, double _Complex force, double _Complex bristle, double _Complex film) {
  (void)bristle, (void)film;
  const column *c = to;
  c->dforce[(size_t)sample * (size_t)c->columns] = __imag__ force / OD_TINY_STEP;
}

od_status od_friction_node_slopes(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start, int columns,
                                  const int *number, double *force, double *dforce) {
  double _Complex p[2 * OD_MOST_ELEMENT_FIELDS];
  nodes_c n = {.law = law, .q = p, .two_sided = two_sided, .grid = grid, .start = start};
  for (int i = 0; i < od_friction_law_numbers(law, two_sided); i++) p[i] = q[i];
  od_status status = od_friction_drive_nodes(law, q, two_sided, grid, start, &(od_friction_motion){.force = force});
  for (int c = 0; c < columns && status == OD_OK; c++) {
    column to = {dforce + c, columns};
    p[number[c]] += __builtin_complex(0.0, OD_TINY_STEP);
    status = go_through_c(&n, put_column, &to);
    p[number[c]] = q[number[c]];
  }
  return status;
}

od_status od_friction_drive_along(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start, const double *along,
                                  int columns, double *dforce) {
  double _Complex p[2 * OD_MOST_ELEMENT_FIELDS];
  nodes_c n = {.law = law, .q = p, .two_sided = two_sided, .grid = grid, .start = start, .along = along};
  for (int i = 0; i < od_friction_law_numbers(law, two_sided); i++) p[i] = q[i];
  return go_through_c(&n, put_column, &(column){dforce, columns});
}

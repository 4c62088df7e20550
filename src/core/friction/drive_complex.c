// Driven laws in complex numbers: derivatives by complex steps for parameters that vary from node to node. Tests compare these
// derivatives with the derivatives of drive_slopes.c.
#include "base/parts.h"

#if OD_WITH_COMPLEX
#define OD_COMPLEX
#include "friction/drive_nodes_x.h"

static void put_force(void *to, int sample, od_complex force, od_complex bristle, od_complex film) {
  (void)bristle, (void)film;
  ((od_complex *)to)[sample] = force;
}

od_status od_friction_drive_complex(const od_friction_law *law, const od_complex *q, bool two_sided,
                                    const od_friction_grid *grid, const od_friction_start *start, od_complex *force) {
  nodes_c n = {.law = law, .q = q, .two_sided = two_sided, .grid = grid, .start = start};
  return go_through_c(&n, put_force, force);
}

// One column of the matrix of the derivatives of the force, with one row per sample.
typedef struct column {
  double *dforce;
  int columns;
} column;
static void put_column(void *to, int sample, od_complex force, od_complex bristle, od_complex film) {
  (void)bristle, (void)film;
  const column *c = to;
  c->dforce[(size_t)sample * (size_t)c->columns] = od_imaginary(force) / OD_TINY_STEP;
}

od_status od_friction_node_slopes(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start, int columns,
                                  const int *number, double *force, double *dforce) {
  od_complex p[2 * OD_MOST_ELEMENT_FIELDS];
  nodes_c n = {.law = law, .q = p, .two_sided = two_sided, .grid = grid, .start = start};
  for (int i = 0; i < od_friction_law_numbers(law, two_sided); i++) p[i] = q[i];
  od_status status = od_friction_drive_nodes(law, q, two_sided, grid, start, &(od_friction_motion){.force = force});
  for (int c = 0; c < columns && status == OD_OK; c++) {
    column to = {dforce + c, columns};
    p[number[c]] += OD_COMPLEX_OF(0.0, OD_TINY_STEP);
    status = go_through_c(&n, put_column, &to);
    p[number[c]] = q[number[c]];
  }
  return status;
}

od_status od_friction_drive_along(const od_friction_law *law, const double *q, bool two_sided,
                                  const od_friction_grid *grid, const od_friction_start *start, const double *along,
                                  int columns, double *dforce) {
  od_complex p[2 * OD_MOST_ELEMENT_FIELDS];
  nodes_c n = {.law = law, .q = p, .two_sided = two_sided, .grid = grid, .start = start, .along = along};
  for (int i = 0; i < od_friction_law_numbers(law, two_sided); i++) p[i] = q[i];
  return go_through_c(&n, put_column, &(column){dforce, columns});
}
#endif

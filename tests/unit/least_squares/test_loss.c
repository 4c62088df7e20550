// Robust losses in the linear model of a search: gradient and curvature of a residual's row.
//
// Oracle: differences of the cost itself, independent of the hand-written derivatives; a negative or zero curvature is
// replaced by a hundredth of the slope.
#include <math.h>

#include "support/test.h"
#include "least_squares/loss.h"

// First and second derivative of the cost of one residual, by central differences of order four.
static void differences(od_ls_loss loss, double scale, double r, double *first, double *second) {
  const double h = 2e-3 * scale;
  double c[5];
  for (int i = -2; i <= 2; i++) {
    const double at = r + i * h;
    c[i + 2] = od_loss_cost(loss, scale, 1, &at);
  }
  *first = (c[0] - 8 * c[1] + 8 * c[3] - c[4]) / (12 * h);
  *second = (-c[0] + 16 * c[1] - 30 * c[2] + 16 * c[3] - c[4]) / (12 * h * h);
}

static void rows_follow_the_cost(void **state) {
  (void)state;
  // On both sides of every turning point, and of Huber's corner at one scale.
  static const double sizes[] = {0.1, 0.4, 0.55, 0.7, 0.9, 1.1, 1.5, 2, 4, 10};
  static const od_ls_loss losses[] = {OD_LOSS_LINEAR, OD_LOSS_SOFT_L1, OD_LOSS_HUBER, OD_LOSS_CAUCHY, OD_LOSS_ARCTAN};
  int replaced = 0, kept = 0;
  for (size_t k = 0; k < sizeof losses / sizeof *losses; k++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      for (int sign = -1; sign <= 1; sign += 2) {
        const double scale = 0.3, r = sign * scale * sizes[i];
        const od_loss_weight w = od_loss_row(losses[k], scale, r);
        double first, second;
        differences(losses[k], scale, r, &first, &second);
        const double least = 0.01 * first / r, curvature = fmax(second, least);
        if (fabs(w.row * w.residual - first) > 1e-8 * fabs(first) || fabs(w.row * w.row - curvature) > 1e-6)
          fail_msg("loss %d, %g scales: slope %.9g for %.9g, curvature %.9g for %.9g", (int)losses[k], sign * sizes[i],
                   w.row * w.residual, first, w.row * w.row, curvature);
        replaced += second<least, kept += second> least;
      }
  assert_true(replaced >= 20 && kept >= 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_follow_the_cost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

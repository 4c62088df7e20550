// The derivatives of all friction laws close to rest, where films of oil grow and shrink: at speeds from 1e-7 to 10 times the Stribeck
// speed's order. Oracle: complex steps through the law's equation, which share only the equation with the derivatives.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "friction/law.h"
#include "support/random_instance.h"

static const double tiny = 1e-30;

// Computes the outputs with one input or number moved along the imaginary axis.
static void evaluate(const od_lone_instance *x, int in, int number, double complex *out) {
  double complex w[OD_INSTANCE_SCALARS];
  for (int i = 0; i < OD_INSTANCE_SCALARS; i++) w[i] = x->w[i];
  for (int i = 0; i < x->c->equations->kept; i++) w[x->batch.kept + i] = 0;
  if (in >= 0) w[x->batch.in + in] += tiny * I;
  if (number >= 0) w[x->pool[0] + number] += tiny * I;
  x->c->equations->evaluate_complex(&x->batch, x->pool, w);
  for (int i = 0; i < x->c->equations->outs; i++) out[i] = w[x->batch.out + i];
}

static void compare(const od_lone_instance *x, const char *by, int index, double got, double complex want, double unit,
                    double size) {
  double exact = cimag(want) / tiny;
  // A level far below Fc is a difference of large numbers; its round-off is larger by the ratio of both.
  if (!(fabs(got - exact) <= 1e-9 * fabs(exact) + 1e-11 * size / unit))
    fail_msg("%s at %.3g m/s: by %s %d: %.15g, complex step %.15g", x->c->equations->name, x->w[x->batch.in + 0], by,
             index, got, exact);
}

static void check(const od_lone_instance *x) {
  const od_element_description *c = x->c;
  od_lone_instance y = *x;
  double complex out[OD_MOST_OUT + OD_MOST_REPORTS];
  c->equations->slopes(&y.batch, y.pool, y.w);
  for (int j = 0; j < c->equations->ins; j++) {
    evaluate(x, j, -1, out);
    double unit = fabs(x->w[x->batch.in + j]) + 1e-9;
    for (int k = 0; k < c->equations->outs; k++)
      compare(x, "input", j, y.w[y.batch.slope + k * c->equations->ins + j], out[k], unit,
              fabs(x->w[x->batch.out + k]));
  }
  for (int n = 0; c->equations->number_slopes && n < x->numbers; n++) {
    double dout[OD_MOST_OUT] = {0};
    bool any = c->equations->number_slopes(&y.batch, y.pool, y.w, 0, &n, 1, dout);
    evaluate(x, -1, n, out);
    double unit = fabs(x->w[x->pool[0] + n]) + 1e-9;
    for (int k = 0; k < c->equations->outs; k++)
      compare(x, "number", n, any ? dout[k] : 0, out[k], unit, fabs(x->w[x->batch.out + k]));
  }
}

static void test_slow_speeds(void **state) {
  (void)state;
  int laws = 0;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    if (od_friction_law_find(c->equations->name) < 0) continue;
    od_dice dice = {od_dice_seed(c->equations->name)};
    laws++;
    for (int k = 0; k < 40; k++) {
      od_lone_instance x = od_random_instance(&dice, c);
      for (int n = 0; n < 30; n++) {
        for (int j = 0; j < c->equations->ins; j++) {
          double *in = &x.w[x.batch.in + j];
          if (c->equations->in[j].kind == OD_IN_SPEED)
            *in = (od_dice_pick(&dice, 2) ? 1 : -1) * pow(10, od_dice_uniform(&dice, -9, -1));
          if (c->equations->in[j].kind == OD_IN_SIGNAL) *in = od_dice_uniform(&dice, 0.3, 1.5);
          if (c->equations->in[j].kind != OD_IN_STATE) continue;
          const od_element_state *s = &c->states[c->equations->in[j].index];
          double size = s->scale > 0 ? s->scale : x.w[x.pool[0] + s->scale_field];
          *in = size * od_dice_uniform(&dice, -1, 1);
        }
        x.c->equations->evaluate(&x.batch, x.pool, x.w);
        check(&x);
      }
    }
  }
  print_message("%d laws\n", laws);
  assert_true(laws >= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slow_speeds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

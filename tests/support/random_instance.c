#include "support/random_instance.h"

#include <math.h>
#include <string.h>

// A number in the lower half of what is usual, where most machines are, times or divided by up to 3.
static double random_number(od_dice *dice, const od_element_field *f) {
  double low = f->limits.usual_low, high = f->limits.usual_high, factor = pow(3, od_dice_uniform(dice, -1, 1));
  bool known = low != 0 || high != 0;
  // No more and no less than is possible, as of shares and exponents.
  if (!isnan(f->fallback) && f->fallback != 0) {
    double value = f->fallback * factor;
    return f->limits.high > 0 ? fmax(fmin(value, f->limits.high), f->limits.low) : value;
  }
  if (!known) return 0.3 * factor;
  // Pressures differ by some bar, so that valves do not open all at once.
  double weight = strcmp(f->unit, "Pa") == 0 ? 2.0 / 3 : 1.0 / 3;
  if (low > 0) return pow(low, 1 - weight) * pow(high, weight) * factor;
  double size = fmin(3e-3 * high, 1) * factor;
  return low < 0 && f->sign == OD_ANY && od_dice_pick(dice, 2) ? -size : size;
}

static bool rules_hold(const od_element_class *c, const double *q) {
  for (int i = 0; i < c->rule_count; i++)
    if (!od_element_rule_holds(&c->rules[i], q[c->rules[i].greater], q[c->rules[i].smaller])) return false;
  return true;
}

// Behind the fields: abscissae from 0 on, then ordinates.
static int random_curve(od_dice *dice, double *q, int choice[OD_MOST_ELEMENT_CHOICES]) {
  int degree = 1 + od_dice_pick(dice, 3), count = degree + 1 + od_dice_pick(dice, 4);
  for (int i = 0; i < count; i++)
    q[i] = 1.5 * (i + (i && i + 1 < count ? od_dice_uniform(dice, -0.3, 0.3) : 0)) / (count - 1);
  for (int i = 0; i < count; i++) q[count + i] = od_dice_uniform(dice, 0.3, 2);
  choice[OD_PORT_SIDE] = od_dice_pick(dice, 2) ? 1 : -1;
  choice[OD_PORT_DEGREE] = degree;
  choice[OD_PORT_COUNT] = count;
  return 2 * count;
}

int od_random_numbers(od_dice *dice, const od_element_class *c, double *q, int choice[OD_MOST_ELEMENT_CHOICES]) {
  do {
    for (int i = 0; i < c->field_count; i++) q[i] = random_number(dice, &c->fields[i]);
  } while (!rules_hold(c, q));
  for (int i = 0; i < OD_MOST_ELEMENT_CHOICES; i++) choice[i] = 0;
  if (c->optional_fields > 0 || c->end_choice) choice[0] = od_dice_pick(dice, 2);
  return c->field_count - (choice[0] ? 0 : c->optional_fields) +
         (c->has_curve ? random_curve(dice, q + c->field_count, choice) : 0);
}

static int take(int *end, int count) {
  int begin = *end;
  *end += count;
  return begin;
}

od_lone_instance od_random_instance(od_dice *dice, const od_element_class *c) {
  od_lone_instance x = {.c = c};
  int end = 0, unused[OD_MOST_ELEMENT_CHOICES];
  int oil = take(&end, OD_OIL_STATES), host = take(&end, OD_MOST_ELEMENT_FIELDS);
  x.w[oil + OD_OIL_STATE_ROOT] = sqrt(2 / 870.0);
  x.w[oil + OD_OIL_STATE_SMOOTHING] = 1e4;
  x.w[oil + OD_OIL_STATE_VISCOSITY] = 0.04;
  x.w[oil + OD_OIL_STATE_THICKENING] = 2e-8;
  x.w[oil + OD_OIL_STATE_THINNESS] = 1.3;
  if (c->host_class) od_random_numbers(dice, c->host_class, x.w + host, unused);
  x.pool[0] = end;
  x.pool[1] = host;
  x.numbers = od_random_numbers(dice, c, x.w + end, x.pool + 2);
  end += x.numbers;
  x.batch = (od_batch){
      .count = 1, .kept_scalars = c->kept, .choices = c->choices, .number = 0, .host = 1, .choice = 2, .oil = oil};
  x.batch.in = take(&end, c->ins);
  x.batch.out = take(&end, c->outs);
  x.batch.report = take(&end, c->reports);
  x.batch.slope = take(&end, c->ins * c->outs);
  x.batch.kept = take(&end, c->kept);
  return x;
}

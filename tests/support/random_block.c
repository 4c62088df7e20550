// Random blocks of any class, from its table.
#include "support/random_block.h"

#include "support/random_formula.h"

#include <string.h>

od_block_spec od_random_block_spec(od_dice *d, int block_class, double sample) {
  od_block_spec s = {.block_class = block_class, .inputs = 1 + od_dice_pick(d, 3), .sample = sample};
  const od_block_description *c = od_block_description_of(&s);
  int degree = -1;
  for (int i = OD_MOST_BLOCK_CHOICES - 1; i >= 0; i--) {
    s.choice[i] = c->choices[i].rule == OD_CHOICE_GIVEN ? od_dice_pick(d, 2) : 1 + od_dice_pick(d, 3);
    if (c->choices[i].rule == OD_CHOICE_ENTRIES) s.choice[i]++;
    if (c->choices[i].rule != OD_CHOICE_DEGREE) continue;
    // The numerator comes first, and its degree is at most that of the denominator.
    if (degree >= 0) s.choice[i] = od_dice_pick(d, degree + 1);
    degree = s.choice[i];
  }
  if (c->formula_key && c->equations->margin) s.choice[0] = 2;
  if (c->formula_key)
    s.formula = c->equations->margin ? od_random_two_states(s.inputs) : od_random_formula(d, s.inputs, s.choice[0]);
  return s;
}

// Signals are about one, times about 50 ms; leads are shorter, because otherwise a machine behind them moves too violently for
// comparisons of steps. The second of two bounds is above the first.
static double random_number(od_dice *d, const od_block_field *f, bool by_time, int place) {
  double time = od_dice_uniform(d, 0.03, 0.1), size = od_dice_uniform(d, 0.3, 1);
  if (f->shape == OD_ABSCISSAE) return place - 1 + 0.3 * size;
  if (f->shape == OD_BOUNDS) return place ? 0.2 + 0.3 * size : -0.4 * size;
  if (strcmp(f->unit, "s") == 0 || by_time) return f->sign == OD_ANY ? 0.5 * time : time;
  if (strcmp(f->unit, "rad/s") == 0) return 1 / time;
  if (strcmp(f->unit, OD_UNIT_RATIO_TIME) == 0) return 0.1 * time;
  return f->sign == OD_ANY && f->shape == OD_PER_INPUT ? 2 * size - 1 : size;
}

int od_random_block_numbers(od_dice *d, const od_block_spec *s, double gain, double *q) {
  const od_block_description *c = od_block_description_of(s);
  int count = 0;
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) {
    const od_block_field *f = &c->fields[i];
    bool by_time = f->or_key && od_block_gives(s, f->or_key);
    for (int k = 0; k < od_block_count_field(s, f); k++) {
      double value = random_number(d, f, by_time, k);
      q[count++] = f->makes_unit ? gain : value;
    }
  }
  return count;
}

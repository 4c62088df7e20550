// Transfer function N(s)/D(s), or N(z)/D(z) if sampled. The numbers are the coefficients of the numerator, then of the denominator,
// each from the highest power down. The count of coefficients determines the degrees, so a struct cannot name the coefficients. The
// unit of a coefficient depends on its power of s; the shape OD_POLYNOMIAL of a field declares this dependence.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SAMPLED
typedef struct X(numbers) {
  od_x coefficient[OD_MOST_BLOCK_NUMBERS];
} X(numbers);
#include "blocks/rational_x.h"

static inline void X(coefficients)(const X(numbers) * q, X(block) b, X(rational) * r) {
  int above = b.s->choice[NUMERATOR], below = b.s->choice[DENOMINATOR];
  const od_x *last = q->coefficient + above + 1 + below;
  r->n = below;
  r->b[0] = q->coefficient[above];
  r->a[0] = *last;
  for (int i = 1; i <= below; i++) {
    r->b[i] = i <= above ? q->coefficient[above - i] : 0;
    r->a[i] = last[-i];
  }
}

// Computes the states after sample k: v[k], v[k-1], ... of v = u/D(z), and the held output as the last state.
static inline void X(step)(const X(numbers) * q, X(block) b, od_x *next) {
  int n = b.s->choice[DENOMINATOR], lead = n - b.s->choice[NUMERATOR];
  const od_x *above = q->coefficient, *below = above + b.s->choice[NUMERATOR] + 1;
  od_x v = b.u[0], y = 0;
  for (int i = 1; i <= n; i++) v -= below[i] * b.x[i - 1];
  v /= below[0];
  for (int i = lead; i <= n; i++) y += above[i - lead] * (i == 0 ? v : b.x[i - 1]);
  for (int i = 0; i < n; i++) next[i] = i > 0 ? b.x[i - 1] : v;
  next[n] = y;
}

#else
enum { NUMERATOR, DENOMINATOR };  // choices: the degrees of numerator and denominator
#define OD_BLOCK_FILE "blocks/transfer_function.c"
#include "blocks/block_template_x.h"

static int count_states(const od_block_spec *s) {
  return s->choice[DENOMINATOR];
}
static bool passes_on(const od_block_spec *s) {
  return s->choice[NUMERATOR] == s->choice[DENOMINATOR];
}

const od_block_class od_transfer_function_block = {
    .type = "transfer-function",
    .count_states = count_states,
    .passes_on = passes_on,
    OD_BLOCK_EVALUATES,
    OD_BLOCK_STEPS,
    .slopes = slopes_block,
};
const od_block_description od_transfer_function_block_description = {
    .equations = &od_transfer_function_block,
    .summary = "N(s)/D(s); sampled: N(z)/D(z)",
    .inputs = {{"input"}},
    .fields = {{"numerator", OD_UNIT_RATIO, OD_ANY, NAN, "coefficients of N, from the highest power down",
                .shape = OD_POLYNOMIAL},
               {"denominator", "1", OD_ANY, NAN, "coefficients of D, at least as many as of N; degree at most 16",
                .shape = OD_POLYNOMIAL}},
    .choices = {[NUMERATOR] = {OD_CHOICE_DEGREE, "numerator"}, [DENOMINATOR] = {OD_CHOICE_DEGREE, "denominator"}},
    .outputs = {""},
};
#endif

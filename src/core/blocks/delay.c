// Delay: y(t) = u(t - T). A continuous delay is a Pade approximation of order n:
//   exp(-T s) = b(s)/a(s),  b_k = (-1)^k a_k,  a_k = (2n - k)! n! / ((2n)! k! (n - k)!) T^k
// A sampled delay is exact and lasts a whole number of samples. The stored samples are not states, because filters would have to
// propagate these states. The network of blocks stores the samples (.remembers). The delay time determines the size of this memory
// and is not a number of the model (.counts_samples).
#ifdef OD_BLOCK_TEXT
typedef struct X(numbers) {
  od_x time;
} X(numbers);
#include "blocks/rational_x.h"

static inline void X(coefficients)(const X(numbers) * q, X(block) b, X(rational) * r) {
  int n = r->n = b.s->choice[ORDER];
  r->a[0] = r->b[0] = 1;
  for (int k = 1; k <= n; k++) {
    r->a[k] = r->a[k - 1] * (q->time * (double)(n - k + 1) / (double)((2 * n - k + 1) * k));
    r->b[k] = k % 2 ? -r->a[k] : r->a[k];
  }
}

#else
enum { ORDER, SAMPLES, MOST_ORDER = 8 };
#define OD_BLOCK_FILE "blocks/delay.c"
#include "blocks/block_template_x.h"

static int count_states(const od_block_spec *s) {
  return s->sample > 0 ? 0 : s->choice[ORDER];
}

const od_block_class od_delay_block = {
    .type = "delay",
    .count_states = count_states,
    .remembers = true,
    .samples_choice = SAMPLES,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_delay_block_description = {
    .equations = &od_delay_block,
    .summary = "u, delayed: by a continuous approximation, or exactly by a whole number of samples",
    .inputs = {{"input"}},
    .keeps_unit = true,
    .fields = {{"time", "s", OD_POSITIVE, NAN, "delay time; for a sampled delay, a whole number of samples",
                .counts_samples = true, .limits = {1e-12, 1e10, 1e-6, 1e6}},
               {"pade", "1", OD_POSITIVE, 0, "the order of the Pade approximation (1 to 8)", .instead_of_sample = true,
                .most = MOST_ORDER}},
    .choices = {[ORDER] = {OD_CHOICE_WHOLE, "pade", MOST_ORDER},
                [SAMPLES] = {OD_CHOICE_OF_SAMPLES, "time", OD_MOST_DELAY_SAMPLES}},
    .outputs = {""},
};
#endif

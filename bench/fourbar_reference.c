// Reference motion of the freely swinging four-bar, and the error of a subject.
#include "fourbar_subjects.h"

#include <math.h>

#include "oracle/natural_fourbar.h"

double bench_error(const bench_subject *subject) {
  return fmax(subject->error[0], subject->error[1]);
}

int bench_reference_make(bench_reference *reference) {
  const oracle_fourbar m = oracle_fourbar_swing();
  oracle_fourbar_sample motion[2];
  double q[6];
  if (oracle_fourbar_assemble(&m, acos(-1.0) / 3, +1, q) != 0) return -1;
  // Steps of 1 ms with order 16: halving them changes the result by less than 1e-12 m.
  if (oracle_fourbar_tight(&m, q, 0, 1, 1, 1000, motion) != 0) return -1;
  for (int i = 0; i < 4; i++) reference->xy[i] = motion[1].q[i];
  reference->angle[0] = q[5];
  reference->angle[1] = atan2(q[3] - q[1], q[2] - q[0]);
  reference->angle[2] = atan2(q[3] - m.B[1], q[2] - m.B[0]);
  return 0;
}

void bench_compare(bench_subject *subject, const bench_reference *reference) {
  double xy[4];
  subject->error[0] = subject->error[1] = INFINITY;
  if (subject->start(subject->self) != 0) return;
  if (subject->advance(subject->self, (int)lround(1 / subject->step)) != 0) return;
  subject->ends(subject->self, xy);
  for (int i = 0; i < 2; i++) {
    const double error = hypot(xy[2 * i] - reference->xy[2 * i], xy[2 * i + 1] - reference->xy[2 * i + 1]);
    if (isfinite(error)) subject->error[i] = error;
  }
}

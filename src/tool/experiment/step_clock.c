#include "experiment/step_clock.h"

// A prime, as other work may have more to do every so many steps.
enum { ALL_TIMED = 8192, SAMPLED = 17 };

od_step_clock od_step_clock_new(double (*read)(void)) {
  return (od_step_clock){.read = read};
}

void od_step_clock_begin(od_step_clock *c) {
  if (c->steps < ALL_TIMED) c->begun = c->read();
  if (c->steps == ALL_TIMED) c->since = c->read();
  if (c->samples) c->aside += SAMPLED * (c->read() - c->ended - c->told);
  c->samples = false;
}

void od_step_clock_end(od_step_clock *c) {
  if (c->steps < ALL_TIMED) c->seconds += c->read() - c->begun;
  c->steps++;
  c->samples = c->steps > ALL_TIMED && c->steps % SAMPLED == 0;
  c->told = 0;
  if (c->samples) c->ended = c->read();
}

void od_step_clock_leave(od_step_clock *c) {
  if (c->steps > ALL_TIMED) c->begun = c->read();
}

void od_step_clock_return(od_step_clock *c) {
  if (c->steps <= ALL_TIMED) return;
  double took = c->read() - c->begun;
  c->aside += took;
  c->told += took;
}

double od_step_clock_seconds(const od_step_clock *c) {
  return c->steps > ALL_TIMED ? c->seconds + c->read() - c->since - c->aside : c->seconds;
}

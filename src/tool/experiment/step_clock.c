#include "experiment/step_clock.h"

// The first ALL_TIMED steps are timed one by one. After that, other work is timed at every SAMPLED-th step. SAMPLED is a prime
// number, because other work may take longer at regular intervals of steps.
enum { ALL_TIMED = 8192, SAMPLED = 17 };

od_step_clock od_step_clock_new(double (*read)(void)) {
  return (od_step_clock){.read = read};
}

// Returns the shortest time between two consecutive readings of the clock, s.
static double cost_of_reading(double (*read)(void)) {
  double least = 1;
  for (int i = 0; i < 16; i++) {
    double first = read(), took = read() - first;
    if (took < least) least = took;
  }
  return least;
}

void od_step_clock_begin(od_step_clock *c) {
  if (c->steps < ALL_TIMED) c->begun = c->read();
  if (c->steps == ALL_TIMED) {
    c->cost = cost_of_reading(c->read);
    c->since = c->read();
  }
  // The timed work includes one reading of the clock. Work that is not timed does not include a reading.
  if (c->samples) c->aside += SAMPLED * (c->read() - c->ended - c->counted - c->cost);
  c->samples = false;
}

void od_step_clock_end(od_step_clock *c) {
  if (c->steps < ALL_TIMED) c->seconds += c->read() - c->begun;
  c->steps++;
  c->samples = c->steps > ALL_TIMED && c->steps % SAMPLED == 0;
  c->counted = 0;
  if (c->samples) c->ended = c->read();
}

void od_step_clock_leave(od_step_clock *c) {
  if (c->steps > ALL_TIMED) c->begun = c->read();
}

void od_step_clock_return(od_step_clock *c) {
  if (c->steps <= ALL_TIMED) return;
  double took = c->read() - c->begun;
  c->aside += took;
  c->counted += took + c->cost;
}

double od_step_clock_seconds(const od_step_clock *c) {
  return c->steps > ALL_TIMED ? c->seconds + c->read() - c->since - c->aside : c->seconds;
}

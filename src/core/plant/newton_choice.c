#include "plant/newton_choice.h"

// With fewer freedoms dense factors are faster, and so they are where the border around the tree (model_plant_tree.c) is no small
// part of the machine.
enum { LEAST_FREEDOM = 24, LEAST_RATIO = 1 };

bool od_model_line_moves(const od_model *m, int actuator) {
  const od_actuator *a = &m->actuator[actuator];
  return a->coordinate < 0 && m->point[a->point_a].link > 0 && m->point[a->point_b].link > 0;
}

int od_model_moving_lines(const od_model *m) {
  int lines = 0;
  for (int i = 0; i < m->actuators; i++) lines += od_model_line_moves(m, i);
  return lines;
}

// Blocks that measure the motion may couple everything with everything.
bool od_model_can_use_tree(const od_model *m) {
  return m->rows == 0 && m->measures == 0 && m->freedom > 0;
}

od_newton od_model_choose_newton(const od_model *m) {
  int border = od_model_moving_lines(m) * (m->planar ? OD_PLANAR_ND : OD_SPATIAL_ND) + m->states;
  bool tree = od_model_can_use_tree(m) && m->freedom >= LEAST_FREEDOM && border * LEAST_RATIO <= m->freedom;
  return tree ? OD_NEWTON_TREE : OD_NEWTON_DENSE;
}

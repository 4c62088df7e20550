#include "plant/newton_choice.h"

// Dense factors are faster below this number of degrees of freedom. Dense factors are also faster if the border around the tree
// (model_plant_tree.c) is larger than the tree.
enum { LEAST_FREEDOM = 14 };

bool od_model_line_moves(const od_model *m, int actuator) {
  const od_actuator *a = &m->actuator[actuator];
  return a->coordinate < 0 && m->point[a->point_a].link > 0 && m->point[a->point_b].link > 0;
}

int od_model_moving_lines(const od_model *m) {
  int lines = 0;
  for (int i = 0; i < m->actuators; i++) lines += od_model_line_moves(m, i);
  return lines;
}

// Returns whether the tree can be used. Blocks that measure the motion may couple any pair of coordinates, which the
// tree does not support.
bool od_model_can_use_tree(const od_model *m) {
  return m->rows == 0 && m->measures == 0 && m->freedom > 0;
}

bool od_model_prefers_tree(const od_model *m) {
  int border = od_model_moving_lines(m) * (m->planar ? OD_PLANAR_ND : OD_SPATIAL_ND) + m->tree_states.rests;
  return od_model_can_use_tree(m) && m->freedom >= LEAST_FREEDOM && border <= m->freedom;
}

bool od_model_choose_newton(od_model *m, od_sparsity sparsity) {
  if (od_model_can_use_tree(m) && !od_model_find_tree_states(m)) return false;
  m->newton = OD_NEWTON_TREE;
  if (od_model_prefers_tree(m)) return true;
  bool memory = od_model_find_step_pattern(m, sparsity);
  m->newton = m->step.sparse.values ? OD_NEWTON_SPARSE : OD_NEWTON_DENSE;
  return memory;
}

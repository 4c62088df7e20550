// How Newton's matrix of implicit steps is factored: dense, or along the tree of bodies.
#ifndef OD_NEWTON_CHOICE_H
#define OD_NEWTON_CHOICE_H

#include "model/model.h"

// The best one for a model whose freedom is known.
od_newton od_model_choose_newton(const od_model *m);

// Whether it may be factored along the tree at all.
bool od_model_can_use_tree(const od_model *m);

// Whether an actuator is a line between two moving links, and how many are.
bool od_model_line_moves(const od_model *m, int actuator);
int od_model_moving_lines(const od_model *m);

#endif

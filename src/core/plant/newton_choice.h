// How Newton's matrix of implicit steps is factored: dense, by a sparse pattern, or along the tree of bodies.
#ifndef OD_NEWTON_CHOICE_H
#define OD_NEWTON_CHOICE_H

#include "model/builder.h"

// Chooses for a model whose freedom is known, and finds the pattern. False: memory ran out.
bool od_model_choose_newton(od_model *m, od_sparsity sparsity);

// Whether it may be factored along the tree at all, and whether that is best.
bool od_model_can_use_tree(const od_model *m);
bool od_model_prefers_tree(const od_model *m);

// Whether an actuator is a line between two moving links, and how many are.
bool od_model_line_moves(const od_model *m, int actuator);
int od_model_moving_lines(const od_model *m);

#endif

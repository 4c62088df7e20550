// Choice of the method that factors Newton's matrix of implicit steps: dense, with a sparse pattern, or along the tree of bodies.
#ifndef OD_NEWTON_CHOICE_H
#define OD_NEWTON_CHOICE_H

#include "model/builder.h"

// Chooses the method for a model whose degrees of freedom are known, and computes the pattern of the matrix if it is
// sparse. Returns false if an allocation fails.
bool od_model_choose_newton(od_model *m, od_sparsity sparsity);

// Return whether the matrix can be factored along the tree, and whether this method is the fastest.
bool od_model_can_use_tree(const od_model *m);
bool od_model_prefers_tree(const od_model *m);

// Return whether an actuator is a line between two moving links, and the number of such actuators.
bool od_model_line_moves(const od_model *m, int actuator);
int od_model_moving_lines(const od_model *m);

#endif

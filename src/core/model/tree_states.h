#ifndef OD_TREE_STATES_H
#define OD_TREE_STATES_H

// First-order states for a Newton matrix that is factored along the tree (model/tree_states.c): states that belong to a joint,
// joint by joint, and the remaining states.
enum { OD_MOST_JOINT_STATES = 6 };
typedef struct od_joint_states {
  int actuator, coordinate;
  int first, count;  // section of the joint in od_tree_states.own
} od_joint_states;
typedef struct od_tree_states {
  int groups, own_count, rests;
  od_joint_states *group;
  int *own, *rest;  // indices of states
} od_tree_states;

#endif

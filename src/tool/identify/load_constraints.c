// The section 'constraints' of a fit file: relations between parameters.
//
//   constraints:
//     - friction.coulomb <= friction.static
//     - spring.k1 = 2 * spring.k2
//     - 0.1 <= leak.a + leak.b <= 1
//
// A chain becomes one constraint per relation. Equalities come first, as the search requires.
#include <string.h>

#include "identify/load_fit.h"

static const char *name_of(const void *user, int i) {
  return ((const od_experiment *)user)->parameter[i].path;
}
static const char *unit_of(const void *user, int i) {
  return ((const od_experiment *)user)->parameter[i].unit;
}

static bool names_parameter(const od_expression *e) {
  for (int i = 0; i < e->count; i++)
    if (e->operation[i].kind == OD_OPERATION_VARIABLE) return true;
  return false;
}

static const char *part_of(od_loader *ld, const char *text, const od_relation *r, int from, int to) {
  return od_copy(ld, text + r->begin[from], (size_t)(r->end[to] - r->begin[from]));
}

static void add(od_experiment_loader *xl, od_fit_plan *plan, const char *text, const od_relation *r, int i) {
  od_fit_constraint *list = od_arena_extend(&plan->arena, plan->constraint, plan->constraints, sizeof *list);
  if (!list) {
    xl->ld.no_memory = true;
    return;
  }
  plan->constraint = list;
  bool equality = r->kind[i] == OD_EQUAL;
  int at = plan->constraints++;
  // Equalities come first; both kinds are in the order of the file.
  for (; equality && at > plan->equalities; at--) list[at] = list[at - 1];
  plan->equalities += equality;
  list[at] = (od_fit_constraint){.text = part_of(&xl->ld, text, r, i, i + 1),
                                 .left_text = part_of(&xl->ld, text, r, i, i),
                                 .right_text = part_of(&xl->ld, text, r, i + 1, i + 1),
                                 .kind = r->kind[i],
                                 .left = r->side[i],
                                 .right = r->side[i + 1]};
}

// Returns the place of character `at` of a one-line text in the file.
static od_place place_in(const od_loader *ld, int node, int at) {
  od_place place = od_place_of(ld, node);
  place.column += at;
  return place;
}

static void read_relation(od_experiment_loader *xl, od_fit_plan *plan, od_relation *r, int node) {
  od_loader *ld = &xl->ld;
  const od_expression_names names = {xl->e->parameters, name_of, unit_of, xl->e, ld->units};
  od_expression_problem problem;
  if (ld->tree.node[node].kind == OD_TREE_MAP) {
    od_complain(ld, node, "found a map, expected a relation such as 'a + b <= 1'");
    return;
  }
  const char *text = od_read_text(ld, node, "a constraint", "a relation such as 'a + b <= 1'");
  if (!text) return;
  if (!od_relation_parse(text, &names, r, &problem)) {
    od_messages_add(ld->messages, place_in(ld, node, problem.at), "in the constraint '%s': %s", od_excerpt(ld, text),
                    problem.text);
    return;
  }
  for (int i = 0; i + 1 < r->sides; i++)
    if (names_parameter(&r->side[i]) || names_parameter(&r->side[i + 1]))
      add(xl, plan, text, r, i);
    else
      od_messages_add(ld->messages, place_in(ld, node, r->begin[i]),
                      "'%s' contains no parameter of the fit; a constraint needs at least one",
                      part_of(ld, text, r, i, i + 1));
}

void od_load_constraints(od_experiment_loader *xl, od_fit_plan *plan, int node) {
  od_loader *ld = &xl->ld;
  if (node < 0 || ld->tree.node[node].kind == OD_TREE_NULL) return;
  if (ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s, expected a list of relations, such as '- a + b <= 1'", od_describe(ld, node));
    return;
  }
  OD_SCRATCH(scratch);
  od_relation *r = OD_TAKE(&scratch, od_relation, 1);
  if (!r) ld->no_memory = true;
  for (int entry = ld->tree.node[node].first; r && entry >= 0; entry = ld->tree.node[entry].next)
    read_relation(xl, plan, r, od_tree_value(&ld->tree, entry));
}

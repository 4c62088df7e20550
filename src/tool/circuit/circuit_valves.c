// Letters of the ports of directional valves, and the open paths of each position.
//
// The ports of a valve with curves have no letters in machine files. This file derives the letters: T is the tank. A
// and B have a path to T. P only supplies oil: P is the first node of all its ports. L only receives oil. A is the port
// that P feeds on the positive side of the spool.
#include <string.h>

#include "circuit/circuit_graph.h"
#include "machine/machine_parts.h"

// --- Boxes ------------------------------------------------------------------------------------------------------------

// Adds a path to a box. A path leads away from P or toward T. Two paths in opposite directions become one path in both
// directions.
static void add_path(od_valve_box *box, od_letter from, od_letter to) {
  if (from == OD_LETTER_NONE || to == OD_LETTER_NONE || from == to || box->paths == OD_MOST_PATHS) return;
  if (to == OD_LETTER_P || from == OD_LETTER_T || from == OD_LETTER_L) {
    od_letter other = from;
    from = to, to = other;
  }
  for (int i = 0; i < box->paths; i++) {
    if (box->path[i].from == from && box->path[i].to == to) return;
    if (box->path[i].from == to && box->path[i].to == from) {
      box->path[i].is_two_way = true;
      return;
    }
  }
  box->path[box->paths++] = (od_valve_path){from, to, false};
}

static bool same_paths(const od_valve_box *a, const od_valve_box *b) {
  if (a->paths != b->paths) return false;
  for (int i = 0; i < a->paths; i++) {
    bool found = false;
    for (int k = 0; k < b->paths; k++) found = found || memcmp(&a->path[i], &b->path[k], sizeof a->path[i]) == 0;
    if (!found) return false;
  }
  return true;
}

// Stores the boxes of the positions 1, 0 and -1. Positions 1 and -1 are omitted if their paths equal those of position
// 0. Returns NULL if out of memory.
static const od_valve_boxes *keep_boxes(const od_valve_box *at, od_arena *arena) {
  od_valve_boxes *boxes = OD_TAKE(arena, od_valve_boxes, 1);
  if (!boxes) return NULL;
  for (int position = 1; position >= -1; position--) {
    const od_valve_box *box = &at[position + 1], *zero = &at[1];
    if (position != 0 && same_paths(box, zero)) continue;
    if (position == 0) boxes->rest = boxes->count;
    boxes->box[boxes->count] = *box;
    boxes->box[boxes->count++].position = position;
  }
  return boxes;
}

// --- Valves with named ends -------------------------------------------------------------------------------------------

// Assigns letters to the ends of a valve: the two ends of `between`, a, b and the sense port. If only the first end of
// `between` is at a tank, the second end is P. Returns false if a letter occurs twice, or if P or A is missing.
static bool name_ends(od_graph *g, od_part *part) {
  int count[OD_LETTERS] = {0};
  bool swapped = part->ends >= 2 && part->end[0].net >= 0 && part->end[1].net >= 0 &&
                 g->net[part->end[0].net].is_tank && !g->net[part->end[1].net].is_tank;
  for (int i = 0; i < part->ends; i++) {
    od_part_end *end = &part->end[i];
    if (end->net < 0) continue;
    if (end->role == OD_END_SENSE)
      end->letter = OD_LETTER_L;
    else if (strcmp(end->key, "between") == 0)
      end->letter = (end->place == 0) != swapped ? OD_LETTER_P : OD_LETTER_T;
    else if (strcmp(end->key, "a") == 0 || (strcmp(end->key, "to") == 0 && end->place == 0))
      end->letter = OD_LETTER_A;
    else
      end->letter = OD_LETTER_B;
    count[end->letter]++;
  }
  for (int i = 1; i < OD_LETTERS; i++)
    if (count[i] > 1) return false;
  return count[OD_LETTER_P] == 1 && count[OD_LETTER_A] == 1;
}

static bool boxes_of_ends(od_graph *g, od_part *part, od_arena *arena, bool *ok) {
  od_valve_box at[3] = {0};
  if (!name_ends(g, part)) return false;
  for (int position = -1; position <= 1; position++) {
    double opening[OD_MOST_ENDS * OD_MOST_ENDS];
    if (!od_valve_openings(g->model, part->instance, position, opening)) return false;
    for (int from = 0; from < part->ends; from++)
      for (int to = 0; to < part->ends; to++)
        if (opening[from * part->ends + to] > 0 && opening[to * part->ends + from] <= opening[from * part->ends + to])
          add_path(&at[position + 1], part->end[from].letter, part->end[to].letter);
    // Oil can flow in both directions along each path; an arrow shows the usual direction.
    for (int i = 0; i < at[position + 1].paths; i++) {
      od_valve_path *path = &at[position + 1].path[i];
      if (path->from == OD_LETTER_P || path->to == OD_LETTER_T || path->to == OD_LETTER_L) path->is_two_way = false;
    }
  }
  part->boxes = keep_boxes(at, arena);
  *ok = part->boxes != NULL;
  return *ok;
}

// --- Valves with ports ------------------------------------------------------------------------------------------------

// Properties of a net of a valve: whether it is the first or the second node of a port, and whether the other node of
// one of its ports is a tank.
typedef struct net_use {
  bool gives, takes, has_tank;
} net_use;

static od_letter letter_of(const od_part *part, int net) {
  for (int i = 0; i < part->ends; i++)
    if (part->end[i].net == net) return part->end[i].letter;
  return OD_LETTER_NONE;
}

static int end_of(const od_part *part, int net) {
  int i = 0;
  while (i < part->ends - 1 && part->end[i].net != net) i++;
  return i;
}

// Loops over the ports of a valve.
#define OD_FOR_PORTS(m, valve, e)                                                     \
  for (const od_instance *e = (m)->instance; e < (m)->instance + (m)->instances; e++) \
    if (e->host == (valve) && od_instance_class(m, e)->has_curve)

// Assigns letters to the nets of the ports; work ports get the letter A. Returns false unless there is one P, one or
// two work ports and at most one L.
static bool name_ports(od_graph *g, od_part *part, od_arena *scratch) {
  const od_model *m = g->model;
  net_use *use = OD_TAKE(scratch, net_use, part->ends);
  int count[OD_LETTERS] = {0};
  bool any_tank = false;
  if (!use) return false;
  for (int i = 0; i < part->ends; i++) any_tank = any_tank || g->net[part->end[i].net].is_tank;
  OD_FOR_PORTS(m, part->instance, e) {
    int a = end_of(part, e->end[0]), b = end_of(part, e->end[1]);
    use[a].gives = use[b].takes = true;
    if (g->net[e->end[0]].is_tank) use[b].has_tank = true;
    if (g->net[e->end[1]].is_tank) use[a].has_tank = true;
  }
  int first_work = -1;
  for (int i = 0; i < part->ends; i++) {
    od_part_end *end = &part->end[i];
    bool works = any_tank ? use[i].has_tank : use[i].gives && use[i].takes;
    end->letter = g->net[end->net].is_tank ? OD_LETTER_T
                  : works                  ? OD_LETTER_A
                  : use[i].gives           ? OD_LETTER_P
                                           : OD_LETTER_L;
    // If no net only supplies oil, the first of several work ports becomes P.
    if (works && first_work < 0) first_work = i;
    count[end->letter]++;
  }
  // Without a tank, a single net that only receives oil is the return line.
  if (!any_tank && count[OD_LETTER_L] == 1 && count[OD_LETTER_A] > 0)
    for (int i = 0; i < part->ends; i++)
      if (part->end[i].letter == OD_LETTER_L)
        part->end[i].letter = OD_LETTER_T, count[OD_LETTER_L]--, count[OD_LETTER_T]++;
  if (count[OD_LETTER_A] == 0)  // if there are no work ports, the nets that receive oil are the work ports
    for (int i = 0; i < part->ends && count[OD_LETTER_A] < 2; i++)
      if (part->end[i].letter == OD_LETTER_L)
        part->end[i].letter = OD_LETTER_A, count[OD_LETTER_L]--, count[OD_LETTER_A]++;
  if (count[OD_LETTER_P] == 0 && first_work >= 0 && count[OD_LETTER_A] > 1)
    part->end[first_work].letter = OD_LETTER_P, count[OD_LETTER_P]++, count[OD_LETTER_A]--;
  return count[OD_LETTER_P] == 1 && count[OD_LETTER_A] >= 1 && count[OD_LETTER_A] <= 2 && count[OD_LETTER_L] <= 1;
}

// Chooses port A among the work ports: the port that P supplies on the positive side, or else the first. The other port
// is B.
static void choose_a(od_graph *g, od_part *part) {
  const od_model *m = g->model;
  int fed = -1, first = -1;
  OD_FOR_PORTS(m, part->instance, e)
  if (fed < 0 && e->choice[OD_PORT_SIDE] > 0 && letter_of(part, e->end[0]) == OD_LETTER_P &&
      letter_of(part, e->end[1]) == OD_LETTER_A)
    fed = e->end[1];
  for (int i = 0; i < part->ends; i++) {
    if (part->end[i].letter != OD_LETTER_A) continue;
    if (first < 0) first = part->end[i].net;
  }
  if (fed < 0) fed = first;
  for (int i = 0; i < part->ends; i++)
    if (part->end[i].letter == OD_LETTER_A && part->end[i].net != fed) part->end[i].letter = OD_LETTER_B;
}

static bool boxes_of_ports(od_graph *g, od_part *part, od_arena *arena, bool *ok) {
  const od_model *m = g->model;
  od_valve_box at[3] = {0};
  if (!name_ports(g, part, arena)) return false;
  choose_a(g, part);
  OD_FOR_PORTS(m, part->instance, e) {
    od_letter from = letter_of(part, e->end[0]), to = letter_of(part, e->end[1]);
    add_path(&at[e->choice[OD_PORT_SIDE] + 1], from, to);
    if (od_port_opening_at_zero(m, (int)(e - m->instance)) > 0) add_path(&at[1], from, to);
  }
  part->boxes = keep_boxes(at, arena);
  *ok = part->boxes != NULL;
  return *ok;
}

bool od_valve_find_boxes(od_graph *g, od_part *part, od_arena *arena, bool *ok) {
  const od_instance *e = &g->model->instance[part->instance];
  bool has_ports = od_instance_class(g->model, e) == &od_valve_class;
  bool found = has_ports ? boxes_of_ports(g, part, arena, ok) : boxes_of_ends(g, part, arena, ok);
  if (found && part->boxes->count < 2) found = false;
  return found;
}

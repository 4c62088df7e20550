// Each check of circuit diagrams finds a fault that was made on purpose. Oracle: the fault.
#include "support/test.h"

#include <string.h>

#include "unit/circuit/circuits.h"

// The sheet of the load-sensing system, which has frames, pilots, branches and names; changed by each test.
typedef struct broken {
  od_machine *machine;
  od_arena arena;
  od_sheet *sheet;
} broken;

static int begin(void **state) {
  static broken b;
  b = (broken){.machine = od_test_machine("cases/load-sensing/machine.yaml", NULL)};
  b.sheet = (od_sheet *)&circuit_of(b.machine, &b.arena)->sheet;
  for (od_flaw flaw = 0; flaw < OD_FLAWS; flaw++)
    if (od_sheet_flaws(b.sheet, flaw) != 0) return -1;
  *state = &b;
  return 0;
}

static int end(void **state) {
  broken *b = *state;
  od_arena_free(&b->arena);
  od_machine_free(b->machine);
  return 0;
}

static od_sheet *sheet_of(void **state) {
  return ((broken *)*state)->sheet;
}

// The first cell of a class.
static od_cell *cell_of(od_sheet *s, const char *class_name) {
  for (int i = 0; i < s->cells; i++)
    if (s->cell[i].part >= 0 && strcmp(s->cell[i].symbol->class_name, class_name) == 0) return &s->cell[i];
  fail_msg("there is no %s", class_name);
  return NULL;
}

static void missing_end(void **state) {
  od_sheet *s = sheet_of(state);
  s->pin[cell_of(s, "cylinder")->pin].end = -1;
  assert_int_equal(od_sheet_flaws(s, OD_FLAW_ENDS), 1);
}

static void end_at_another_net(void **state) {
  od_sheet *s = sheet_of(state);
  od_pin *pin = &s->pin[cell_of(s, "check valve")->pin];
  pin->net = (pin->net + 1) % s->graph->nets;
  assert_true(od_sheet_flaws(s, OD_FLAW_ENDS) > 0);
}

static void missing_part(void **state) {
  od_sheet *s = sheet_of(state);
  cell_of(s, "check valve")->part = -1;
  assert_int_equal(od_sheet_flaws(s, OD_FLAW_ENDS), 1);
}

static void missing_segments(void **state) {
  od_sheet *s = sheet_of(state);
  int found = 0, dangling = 0;
  for (int i = 0; i < s->segments; i++) {  // without any one segment, its net is cut or another one ends nowhere
    od_segment kept = s->segment[i];
    s->segment[i] = s->segment[--s->segments];
    found += od_sheet_flaws(s, OD_FLAW_CONNECTION) > 0;
    dangling += od_sheet_flaws(s, OD_FLAW_DANGLING) > 0;
    s->segment[s->segments++] = s->segment[i];
    s->segment[i] = kept;
  }
  assert_int_equal(found, s->segments);
  assert_true(dangling > 0);
}

static void segment_too_long(void **state) {
  od_sheet *s = sheet_of(state);
  s->segment[0].x1 -= s->segment[0].y1 == s->segment[0].y2 ? 5 : 0;
  s->segment[0].y1 -= s->segment[0].x1 == s->segment[0].x2 ? 5 : 0;
  assert_true(od_sheet_flaws(s, OD_FLAW_DANGLING) > 0);
}

static void missing_dot(void **state) {
  od_sheet *s = sheet_of(state);
  s->dots--;
  assert_true(od_sheet_flaws(s, OD_FLAW_DOTS) > 0);
}

static void dot_without_branch(void **state) {
  od_sheet *s = sheet_of(state);
  s->dot[0].x += 3;
  assert_true(od_sheet_flaws(s, OD_FLAW_DOTS) > 0);
}

static void two_nets_on_one_line(void **state) {
  od_sheet *s = sheet_of(state);
  for (int i = 0; i < s->segments; i++) {
    od_segment *g = &s->segment[i];
    if (g->net == s->segment[0].net) continue;
    *g = (od_segment){g->net, s->segment[0].x1, s->segment[0].y1, s->segment[0].x2, s->segment[0].y2, false};
    break;
  }
  assert_true(od_sheet_flaws(s, OD_FLAW_TOUCH) > 0);
}

// A line that ends at a line of another net looks like a branch.
static void line_ends_at_another_net(void **state) {
  od_sheet *s = sheet_of(state);
  od_segment *g = &s->segment[0];
  int other = (g->net + 1) % s->graph->nets, x = (g->x1 + g->x2) / 2, y = (g->y1 + g->y2) / 2;
  bool flat = g->y1 == g->y2;
  s->segment[s->segments - 1] = (od_segment){other, flat ? x : x - 7, flat ? y - 7 : y, x, y, false};
  assert_true(od_sheet_flaws(s, OD_FLAW_TOUCH) > 0);
}

static void overlapping_cells(void **state) {
  od_sheet *s = sheet_of(state);
  od_cell *a = cell_of(s, "cylinder"), *b = cell_of(s, "valve");
  b->x = a->x, b->y = a->y + a->height - 1;
  assert_true(od_sheet_flaws(s, OD_FLAW_CELLS) > 0);
}

static void line_through_a_cell(void **state) {
  od_sheet *s = sheet_of(state);
  od_cell *c = cell_of(s, "cylinder");
  s->segment[0].x1 = c->x - 5, s->segment[0].x2 = c->x + c->width + 5;
  s->segment[0].y1 = s->segment[0].y2 = c->y + 30;
  assert_true(od_sheet_flaws(s, OD_FLAW_THROUGH) > 0);
}

// A line of a net of the cell also may not cross its symbol.
static void line_beyond_its_pin(void **state) {
  od_sheet *s = sheet_of(state);
  od_cell *c = cell_of(s, "pressure compensator");
  const od_pin *p = &s->pin[c->pin];
  for (int i = 0; i < s->segments; i++) {
    od_segment *g = &s->segment[i];
    if (g->net == p->net && g->x1 == g->x2 && g->x1 == od_pin_x(s, p) && g->y2 == od_pin_y(s, p)) g->y2 += 10;
  }
  assert_true(od_sheet_flaws(s, OD_FLAW_THROUGH) > 0);
}

static void text_outside_its_cell(void **state) {
  od_sheet *s = sheet_of(state);
  for (int i = 0; i < s->marks; i++)
    if (s->mark[i].text && s->mark[i].cell >= 0) {
      s->mark[i].right = s->cell[s->mark[i].cell].x + s->cell[s->mark[i].cell].width + 2;
      break;
    }
  assert_true(od_sheet_flaws(s, OD_FLAW_TEXT_OUTSIDE) > 0);
}

static void text_on_text(void **state) {
  od_sheet *s = sheet_of(state);
  od_mark *first = NULL;
  for (int i = 0; i < s->marks; i++) {
    if (!s->mark[i].text) continue;
    if (first) {
      *first = s->mark[i];
      break;
    }
    first = &s->mark[i];
  }
  assert_true(od_sheet_flaws(s, OD_FLAW_TEXT_OVERLAP) > 0);
}

static void text_on_a_line(void **state) {
  od_sheet *s = sheet_of(state);
  for (int i = 0; i < s->marks; i++)
    if (s->mark[i].text) {
      s->mark[i].left = s->segment[0].x1 - 1, s->mark[i].right = s->segment[0].x1 + 1;
      s->mark[i].top = s->segment[0].y1 - 1, s->mark[i].bottom = s->segment[0].y1 + 1;
      break;
    }
  assert_true(od_sheet_flaws(s, OD_FLAW_TEXT_OVERLAP) > 0);
}

static void name_on_a_symbol(void **state) {
  od_sheet *s = sheet_of(state);
  s->name[0].x = s->mark[0].left, s->name[0].y = s->mark[0].top + 4;
  assert_true(od_sheet_flaws(s, OD_FLAW_NAMES) > 0);
}

static void name_on_a_name(void **state) {
  od_sheet *s = sheet_of(state);
  s->name[0].x = s->name[1].x, s->name[0].y = s->name[1].y + 3;
  assert_true(od_sheet_flaws(s, OD_FLAW_NAMES) > 1);
}

static void missing_name(void **state) {
  od_sheet *s = sheet_of(state);
  int net = s->name[s->names - 1].net;
  while (s->names > 0 && s->name[s->names - 1].net == net) s->names--;  // a long net has two
  assert_int_equal(od_sheet_flaws(s, OD_FLAW_NAMES), 1);
}

static void frame_around_another_part(void **state) {
  od_sheet *s = sheet_of(state);
  assert_int_equal(s->frames, 2);
  s->frame[0].height += 200;
  assert_true(od_sheet_flaws(s, OD_FLAW_FRAMES) > 0);
}

static void another_crossing(void **state) {
  od_sheet *s = sheet_of(state);
  int before = od_sheet_crossings(s);
  od_segment *g = &s->segment[0];
  bool flat = g->y1 == g->y2;
  int x = (g->x1 + g->x2) / 2, y = (g->y1 + g->y2) / 2, other = (g->net + 1) % s->graph->nets;
  s->segment[s->segments++] =
      (od_segment){other, flat ? x : x - 2, flat ? y - 2 : y, flat ? x : x + 2, flat ? y + 2 : y, false};
  assert_int_equal(od_sheet_crossings(s), before + 1);
}

#define BROKEN(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      BROKEN(missing_end),
      BROKEN(end_at_another_net),
      BROKEN(missing_part),
      BROKEN(missing_segments),
      BROKEN(segment_too_long),
      BROKEN(missing_dot),
      BROKEN(dot_without_branch),
      BROKEN(two_nets_on_one_line),
      BROKEN(line_ends_at_another_net),
      BROKEN(overlapping_cells),
      BROKEN(line_through_a_cell),
      BROKEN(line_beyond_its_pin),
      BROKEN(text_outside_its_cell),
      BROKEN(text_on_text),
      BROKEN(text_on_a_line),
      BROKEN(name_on_a_symbol),
      BROKEN(name_on_a_name),
      BROKEN(missing_name),
      BROKEN(frame_around_another_part),
      BROKEN(another_crossing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

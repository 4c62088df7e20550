// Paths of looks in the notation of SVG. Oracles: points by hand, distances from the center of arcs, and the area of round corners.
#include "support/test.h"

#include <string.h>

#include "base/arena.h"
#include "machine/look_path.h"

static od_path_points read(od_arena *arena, const char *text) {
  od_path_points p;
  const char *problem = NULL;
  int at = 0;
  if (!od_path_read(arena, text, &p, &problem, &at)) fail_msg("'%s': %s at %d", text, problem, at);
  return p;
}

static void check_points(const od_path_points *p, const double (*wanted)[2], int count) {
  assert_int_equal(p->points, count);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 2; k++) near(p->point[i][k], wanted[i][k], 1e-12);
}

static void straight_lines(void **state) {
  (void)state;
  od_arena arena = {0};
  static const double square[][2] = {{1, 1}, {3, 1}, {3, 2.5}, {1, 2.5}};
  static const char *const texts[] = {
      "M1 1 L3 1 L3 2.5 L1 2.5 Z",     "M1,1H3V2.5H1Z",        "m1 1h2v1.5h-2z",
      "M1 1 3 1 3 2.5 1 2.5",          "M1 1 l2 0 0 1.5-2 0Z", "M1 1L3 1L3 2.5L1 2.5L1 1Z",
      "M1e0 1.0L.3e1 1L3 25e-1L1 2.5z"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    od_path_points p = read(&arena, texts[i]);
    check_points(&p, square, 4);
  }
  od_arena_free(&arena);
}

// A cubic Bezier curve begins and ends at its end points; its middle is (P0 + 3 P1 + 3 P2 + P3) / 8. A quadratic curve's middle is
// (P0 + 2 P1 + P2) / 4.
static void curves(void **state) {
  (void)state;
  od_arena arena = {0};
  od_path_points p = read(&arena, "M0 0 C0 1 2 1 2 0");
  near(p.point[p.points - 1][0], 2, 1e-15);
  double highest = 0;
  for (int i = 0; i < p.points; i++) highest = fmax(highest, p.point[i][1]);
  near(highest, 0.75, 0.01);
  p = read(&arena, "M0 0 Q1 1 2 0");
  highest = 0;
  for (int i = 0; i < p.points; i++) {
    highest = fmax(highest, p.point[i][1]);
    near(p.point[i][1], p.point[i][0] * (2 - p.point[i][0]) / 2, 1e-12);  // the parabola
  }
  near(highest, 0.5, 0.01);
  // T continues with the reflected control point: a parabola below the axis.
  p = read(&arena, "M0 0 Q1 1 2 0 T4 0");
  double lowest = 0;
  for (int i = 0; i < p.points; i++) lowest = fmin(lowest, p.point[i][1]);
  near(lowest, -0.5, 0.01);
  // S does the same with cubic curves.
  p = read(&arena, "M0 0 C0 1 2 1 2 0 S4 -1 4 0");
  lowest = 0;
  for (int i = 0; i < p.points; i++) lowest = fmin(lowest, p.point[i][1]);
  near(lowest, -0.75, 0.01);
  od_arena_free(&arena);
}

// An arc with the flag 1 turns counterclockwise, because y points upward here.
static void arcs(void **state) {
  (void)state;
  od_arena arena = {0};
  od_path_points p = read(&arena, "M1 0 A1 1 0 0 1 0 1");
  for (int i = 0; i < p.points; i++) {
    near(hypot(p.point[i][0], p.point[i][1]), 1, 1e-12);
    assert_true(p.point[i][0] >= -1e-12 && p.point[i][1] >= -1e-12);
  }
  p = read(&arena, "M1 0 A1 1 0 1 1 0 -1");  // three quarters about the origin
  double least = 0;
  for (int i = 0; i < p.points; i++)
    near(hypot(p.point[i][0], p.point[i][1]), 1, 1e-12), least = fmin(least, p.point[i][0]);
  near(least, -1, 0.01);
  p = read(&arena, "M0 0 A1 1 0 0 0 4 0");  // too small a radius grows to 2
  for (int i = 0; i < p.points; i++) near(hypot(p.point[i][0] - 2, p.point[i][1]), 2, 1e-12);
  p = read(
      &arena,
      "M0 0 a2 1 90 01 2 2");  // flags without spaces; an ellipse turned by 90 degrees has radii 1 and 2 about (0, 2)
  double farthest = 0;
  for (int i = 0; i < p.points; i++) farthest = fmax(farthest, fabs(p.point[i][0]) + fabs(p.point[i][1]));
  assert_true(farthest > 2 && farthest < 6);
  od_arena_free(&arena);
}

static void round_corners(void **state) {
  (void)state;
  od_arena arena = {0};
  od_path_points p = read(&arena, "M0 0H4V2H0Z"), q = od_path_round(&arena, &p, 0.5);
  double area = 0;
  for (int i = 0; i < q.points; i++) {
    const double *a = q.point[i], *b = q.point[(i + 1) % q.points];
    area += (a[0] * b[1] - a[1] * b[0]) / 2;
  }
  near(area, 8 - (4 - acos(-1.0)) * 0.25, 0.01);
  // The radius is limited by half of the short edge.
  q = od_path_round(&arena, &p, 5);
  for (int i = 0; i < q.points; i++) {
    double x = fmin(fmax(q.point[i][0], 1), 3);
    near(hypot(q.point[i][0] - x, q.point[i][1] - 1), 1, 1e-12);
  }
  od_arena_free(&arena);
}

static void mistakes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int at;
    const char *problem;
  } wrong[] = {
      {"L1 0", 1, "expected 'M'"},
      {"M0 0 X", 6, "expected one of"},
      {"M0 0 L1", 8, "expected a number"},
      {"M0 0 L1 nan", 9, "expected a number"},
      {"M0 0 L0x10 1", 8, "expected a number"},
      {"M0 0 A1 1 0 2 0 1 1", 13, "expected the flag"},
      {"M0 0 L1 0 Z L2 2", 13, "expected the end"},
      {"M0 0 M1 1", 6, "a second 'M'"},
      {"M0 0 L1e9 0", 10, "expected a number"},
      {"M0 0 L1 0 é", 11, "expected a number"},
  };
  od_arena arena = {0};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    od_path_points p;
    const char *problem = NULL;
    int at = 0;
    if (od_path_read(&arena, wrong[i].text, &p, &problem, &at)) fail_msg("'%s' was read", wrong[i].text);
    if (!strstr(problem, wrong[i].problem) || at != wrong[i].at)
      fail_msg("'%s': %s at %d, expected '%s' at %d", wrong[i].text, problem, at, wrong[i].problem, wrong[i].at);
  }
  od_path_points empty = read(&arena, "");
  assert_int_equal(empty.points, 0);
  od_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(straight_lines), cmocka_unit_test(curves),   cmocka_unit_test(arcs),
      cmocka_unit_test(round_corners),  cmocka_unit_test(mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

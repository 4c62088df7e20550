// Outlines of bodies. Oracles: areas and distances by hand: a capsule has the area 2 r L + pi r^2, the hull of points is known, and every
// point of an outline around one bar has the distance of its radius.
#include "support/test.h"

#include "base/arena.h"
#include "scene/scene_parts.h"

static double area_of(const od_polygon *p) {
  double sum = 0;
  for (int i = 0; i < p->points; i++) {
    const double *a = p->point[i], *b = p->point[(i + 1) % p->points];
    sum += (a[0] * b[1] - a[1] * b[0]) / 2;
  }
  return sum;
}

// Returns whether a point is inside a polygon, by the number of edges to its right.
static bool is_inside(const od_polygon *p, double x, double y) {
  bool inside = false;
  for (int i = 0; i < p->points; i++) {
    const double *a = p->point[i], *b = p->point[(i + 1) % p->points];
    if ((a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0])) inside = !inside;
  }
  return inside;
}

static double distance_from_segment(const double p[2], double x0, double y0, double x1, double y1) {
  double dx = x1 - x0, dy = y1 - y0, t = ((p[0] - x0) * dx + (p[1] - y0) * dy) / (dx * dx + dy * dy);
  t = fmin(1, fmax(0, t));
  return hypot(p[0] - x0 - t * dx, p[1] - y0 - t * dy);
}

static void hull_of_points(void **state) {
  (void)state;
  od_arena arena = {0};
  double point[][2] = {{1, 1}, {0, 0}, {2, 0}, {1, 0}, {2, 2}, {0, 2}, {1.5, 0.5}};
  od_polygon p = od_outline_points_hull(&arena, point, 7);
  assert_int_equal(p.points, 4);
  near(area_of(&p), 4, 1e-15);
  od_arena_free(&arena);
}

static void hull_of_circles(void **state) {
  (void)state;
  od_arena arena = {0};
  const od_circle two[] = {{1, 2, 0.5}, {4, 6, 0.5}};  // 5 apart
  od_polygon p = od_outline_hull(&arena, two, 2);
  near_relative(area_of(&p), 2 * 0.5 * 5 + acos(-1.0) * 0.25, 0.01);
  for (int i = 0; i < p.points; i++) {
    double a = hypot(p.point[i][0] - 1, p.point[i][1] - 2), b = hypot(p.point[i][0] - 4, p.point[i][1] - 6);
    near(fmin(a, b), 0.5, 1e-12);
    near(distance_from_segment(p.point[i], 1, 2, 4, 6), 0.5, 0.5 * (1 - cos(acos(-1.0) / 32)));
  }
  // A small circle within a large one does not change the hull.
  const od_circle nested[] = {{0, 0, 1}, {0.2, 0.1, 0.1}};
  p = od_outline_hull(&arena, nested, 2);
  for (int i = 0; i < p.points; i++) near(hypot(p.point[i][0], p.point[i][1]), 1, 1e-12);
  near_relative(area_of(&p), acos(-1.0), 0.01);
  od_arena_free(&arena);
}

static void one_bar(void **state) {
  (void)state;
  od_arena arena = {0};
  const od_stroke bar = {{0, 0, 0.1}, {3, 4, 0.1}, {0}, false};
  od_polygon p = od_outline_union(&arena, &bar, 1, 0);
  double step = (4 + 0.2) / 160;  // of the grid
  assert_in_range(p.points, 8, 200);
  for (int i = 0; i < p.points; i++) near(distance_from_segment(p.point[i], 0, 0, 3, 4), 0.1, 0.2 * step);
  near_relative(area_of(&p), 2 * 0.1 * 5 + acos(-1.0) * 0.01, 0.01);
  od_arena_free(&arena);
}

// A tapered bar, a second bar across it, and a triangle: the outline contains all of them, and the blend adds at most a quarter of its radius.
static void several_bars(void **state) {
  (void)state;
  od_arena arena = {0};
  const od_stroke bars[] = {{{0, 0, 0.3}, {4, 0, 0.1}, {0}, false},
                            {{2, 0, 0.2}, {2, 1.5, 0.15}, {0}, false},
                            {{1, 0, 0.1}, {3, 0, 0.1}, {2, -1, 0.1}, true}};
  double blend = 0.3;
  od_polygon p = od_outline_union(&arena, bars, 3, blend);
  assert_true(area_of(&p) > 0);  // counterclockwise
  static const double inside[][2] = {{0, 0}, {4, 0}, {2, 1.5}, {2, -1}, {2, -0.5}, {-0.28, 0}, {2, 1.63}, {1.5, -0.4}};
  static const double outside[][2] = {{-0.5, 0}, {4.3, 0}, {2, 1.9}, {2, -1.3}, {1, 0.8}, {3, -0.7}, {3.5, 0.4}};
  for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) assert_true(is_inside(&p, inside[i][0], inside[i][1]));
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
    assert_false(is_inside(&p, outside[i][0], outside[i][1]));
  for (int i = 0; i < p.points; i++) {
    double least = INFINITY;
    least = fmin(least, distance_from_segment(p.point[i], 0, 0, 4, 0) - 0.3);
    least = fmin(least, distance_from_segment(p.point[i], 2, 0, 2, 1.5) - 0.2);
    least = fmin(least, distance_from_segment(p.point[i], 1, 0, 2, -1) - 0.1);
    least = fmin(least, distance_from_segment(p.point[i], 3, 0, 2, -1) - 0.1);
    assert_true(least <= 2 * blend / 4 + 0.03);
  }
  // The same strokes give the same points.
  od_polygon q = od_outline_union(&arena, bars, 3, blend);
  assert_int_equal(p.points, q.points);
  assert_memory_equal(p.point, q.point, (size_t)p.points * sizeof *p.point);
  od_arena_free(&arena);
}

static void no_size(void **state) {
  (void)state;
  od_arena arena = {0};
  const od_stroke none = {{1, 1, 0}, {1, 1, 0}, {0}, false};
  assert_int_equal(od_outline_union(&arena, &none, 1, 0).points, 0);
  assert_int_equal(od_outline_union(&arena, &none, 0, 1).points, 0);
  od_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hull_of_points), cmocka_unit_test(hull_of_circles), cmocka_unit_test(one_bar),
      cmocka_unit_test(several_bars),   cmocka_unit_test(no_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

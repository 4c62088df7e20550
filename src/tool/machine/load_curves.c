// Loads characteristic curves of a valve's ports: a straight line, a B-spline with control points, or a table.
//
// In the model all three forms are B-splines: the line has degree 1 and two control points, the table has degree 1.
#include <math.h>
#include <string.h>

#include "io/wording.h"
#include "machine/load_circuit.h"
#include "machine/sections.h"

enum { HIGHEST_DEGREE = 7, MOST_POINTS = 1000 };

static const od_key keys[] = {
    {"degree", OD_WHOLE, "1", "degree of the B-spline", OD_ANY, OD_REQUIRED,
     OD_LIMITS(1, HIGHEST_DEGREE, 1, HIGHEST_DEGREE), "required with `points`"},
    {"points", OD_NUMBERS, "1", "values at the control points", .otherwise = "required without `table`"},
    {"at", OD_NUMBERS, NULL, "abscissae of the control points, in the unit of the command",
     .otherwise = "equidistant over the stroke"},
    {"table", OD_ROWS, NULL, "pairs of spool position and value", .otherwise = "none"},
};
const od_section_class od_curve_section = {"curve", "the characteristic curve of a port", OD_KEYS(keys),
                                           .or_word = true};

// One coordinate of the control points: the location of its entries in the file, if any, and the default.
typedef struct axis {
  const char *name, *unit;  // "at" or "points"
  int list;                 // node of the list, or of the table's rows; -1: none
  int column;               // column in rows of a table; -1: the entries themselves
  double end;               // without a list: equidistant values from 0 to `end`
} axis;

// Returns the node of one coordinate of a control point, or -1. `at`: the element of the list a->list. The caller has already
// checked the rows.
static int entry_of(const od_loader *ld, const axis *a, int at) {
  int node = od_entry(ld, at);
  if (node < 0 || a->column < 0) return node;
  if (od_list_count(ld, node) != 2) return -1;
  int first = od_list_first(ld, node);
  return od_entry(ld, a->column == 0 ? first : ld->tree.node[first].next);
}

// Reads `count` numbers of the model. Returns the index of the first number.
static int read_axis(od_loader *ld, const char *path, const axis *a, int count, od_place place) {
  int first = ld->document->numbers.count;
  int at = od_list_first(ld, a->list);
  for (int i = 0; i < count; i++) {
    const char *label = od_format(ld, "%s[%d]", a->name, i);
    od_field field = {label, a->unit, OD_ANY, count > 1 ? a->end * i / (count - 1) : 0};
    od_read_number(ld, entry_of(ld, a, at), od_path(ld, path, label), &field, place, OD_IN_MODEL);
    if (at >= 0) at = ld->tree.node[at].next;
  }
  return first;
}

// Reads both coordinates of all control points. Abscissae must increase. Openings must not be negative: a port with a
// negative opening would act as a pump. However, these numbers have no lower bound of zero, because estimates may be
// negative during an iteration.
static void read_points(od_loader *ld, const char *path, const axis *at, const axis *points, int count, int node) {
  if (ld->document->numbers.count > OD_MOST_NUMBERS) {
    od_complain(ld, node,
                "the machine has more than %d numbers, the largest allowed number; use fewer points in its tables",
                OD_MOST_NUMBERS);
    return;
  }
  int before = od_messages_errors(ld->messages);
  int first = read_axis(ld, path, at, count, od_place_of(ld, node));
  bool sound = od_messages_errors(ld->messages) == before && (at->list >= 0 || at->end > 0);
  const char *unit = strcmp(at->unit, "1") == 0 ? "" : od_format(ld, " %s", at->unit);
  for (int i = 1; sound && i < count; i++) {
    double last = od_number_value(ld, first + i - 1), next = od_number_value(ld, first + i);
    if (!(next > last))
      od_complain_number(ld, first + i, "the abscissae of a curve must increase; found %g%s after %g%s", next, unit,
                         last, unit);
  }
  int openings = read_axis(ld, path, points, count, od_place_of(ld, node));
  for (int i = openings; i < openings + count; i++)
    if (od_number_value(ld, i) < 0)
      od_complain_number(ld, i, "the values of a curve must not be negative; found %g", od_number_value(ld, i));
}

// Returns whether a node is a list of allowed length. If not, reports an error, unless the node is -1.
static bool check_list(od_loader *ld, int list, const char *label, const char *list_wanted) {
  if (list < 0) return false;
  if (!od_is_list(ld, list)) {
    od_complain(ld, list, "found %s; '%s' must be %s", od_describe(ld, list), label, list_wanted);
    return false;
  }
  if (od_list_count(ld, list) <= MOST_POINTS) return true;
  od_complain(ld, list, "found a list of length %d; a curve has at most %d points", od_list_count(ld, list),
              MOST_POINTS);
  return false;
}

static bool read_table(od_loader *ld, const od_section *section, int table, od_curve_frame frame, od_curve *curve) {
  static const char rows[] = "rows [spool, value]";
  if (!check_list(ld, table, "table", rows)) return false;
  int count = od_list_count(ld, table), entry[2], before = od_messages_errors(ld->messages);
  for (int at = ld->tree.node[table].first; at >= 0; at = ld->tree.node[at].next)
    od_read_list(ld, od_entry(ld, at), "table", rows, 2, entry);
  if (count < 2) od_complain(ld, table, "found a list of length %d; a table needs at least 2 rows", count);
  if (od_messages_errors(ld->messages) != before) return false;
  *curve = (od_curve){.degree = 1, .count = count};
  read_points(ld, section->path, &(axis){"at", frame.unit, table, 0, 0}, &(axis){"points", "1", table, 1, 0}, count,
              table);
  return true;
}

// Returns the degree, or 0 after reporting an error.
static int read_degree(od_loader *ld, const od_section *section) {
  int before = od_messages_errors(ld->messages);
  int number = od_read_keys(ld, section, OD_IN_LOADER, "degree", NULL);
  if (od_messages_errors(ld->messages) != before || !od_number_is_given(ld, number)) return 0;
  double degree = od_read_whole(ld, number, "degree", 1, HIGHEST_DEGREE);
  return od_messages_errors(ld->messages) == before ? (int)degree : 0;
}

static bool read_spline(od_loader *ld, const od_section *section, od_curve_frame frame, od_curve *curve) {
  int points = od_section_need(ld, section, "points"), at = od_section_get(ld, section, "at");
  int degree = read_degree(ld, section);
  if (!check_list(ld, points, "points", "a list of numbers")) return false;
  if (at >= 0 && !check_list(ld, at, "at", "a list of positions of the spool")) return false;
  int count = od_list_count(ld, points);
  bool fits = at < 0 || od_list_count(ld, at) == count;
  if (!fits)
    od_complain(ld, at, "found a list of length %d; 'at' must have %s, as many as 'points'", od_list_count(ld, at),
                od_count(count, "entry").text);
  if (degree > 0 && count <= degree)
    od_complain(ld, points, "found a list of length %d; a curve of degree %d needs at least %d points", count, degree,
                degree + 1);
  *curve = (od_curve){.degree = degree, .count = count};
  read_points(ld, section->path, &(axis){"at", frame.unit, fits ? at : -1, -1, frame.stroke},
              &(axis){"points", "1", points, -1, 0}, count, points);
  return degree > 0;
}

bool od_read_curve(od_loader *ld, const od_section *section, od_curve_frame frame, od_curve *curve) {
  static const char *const of_splines[] = {"degree", "points", "at"};
  *curve = (od_curve){0};
  int node = od_section_need(ld, section, "curve");
  if (node < 0) return false;
  const char *path = od_path(ld, section->path, "curve");
  bool is_map = od_is_map(ld, node);
  if (!is_map && strcmp(od_text_of(ld, node), "linear") == 0) {
    *curve = (od_curve){.degree = 1, .count = 2};
    read_points(ld, path, &(axis){"at", frame.unit, -1, -1, frame.stroke}, &(axis){"points", "1", -1, -1, frame.full},
                2, node);
    return true;
  }
  if (!is_map) {
    od_complain(ld, node, "found %s; 'curve' must be 'linear', or a map with 'degree' and 'points' or with 'table'",
                od_describe(ld, node));
    return false;
  }
  const char *what = od_format(ld, "the curve of %s", section->what);
  od_section map = od_section_open(ld, node, section->node, path, what, &od_curve_section);
  int table = od_section_get(ld, &map, "table");
  if (table < 0) return read_spline(ld, &map, frame, curve);
  for (int i = 0; i < 3; i++)
    if (od_section_get(ld, &map, of_splines[i]) >= 0)
      od_complain(ld, od_section_get(ld, &map, of_splines[i]),
                  "'%s' is not allowed in a curve with a 'table'; remove this key", of_splines[i]);
  return read_table(ld, &map, table, frame, curve);
}

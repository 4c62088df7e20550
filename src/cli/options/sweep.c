// Machines are loaded one after another, since the library of units serves one thread; what takes long is done by all threads, each point
// in its own place, so that results do not depend on their number.
#include "options/sweep.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terminal/exit_codes.h"
#include "options/draws.h"
#include "options/option_values.h"
#include "terminal/progress.h"
#include "options/sweep_plot.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"

enum { MOST_AXES = 8, MOST_POINTS = 10000, MOST_MESSAGES = 5, SHOWN = 8 };

typedef struct axis {
  char path[300], unit[80], si[64];
  double from, to;
  int count;
  bool drawn;
  od_draw draw;
} axis;

typedef struct work {
  const od_sweep *sweep;
  int axes, points, begun;  // begun: points that are loaded
  bool drawn;               // points are draws, not those of a grid
  unsigned long long seed;
  axis axis[MOST_AXES];
  od_machine **machine;
  od_sweep_row *row;
  od_status *status;
  od_error *err;
  double *value;  // points x axes, in SI
  char title[300];
  atomic_int next, finished;
  atomic_bool stop;
} work;

bool od_sweep_add(od_sweep_row *row, const char *name, const char *unit, double value) {
  if (row->count == row->capacity) {
    int larger = row->capacity ? 2 * row->capacity : 16;
    struct od_sweep_value *moved = realloc(row->item, (size_t)larger * sizeof *moved);
    if (!moved) return false;
    row->item = moved;
    row->capacity = larger;
  }
  struct od_sweep_value *item = &row->item[row->count++];
  *item = (struct od_sweep_value){strdup(name), strdup(unit && unit[0] ? unit : "1"), value};
  return item->name && item->unit;
}

static void free_row(od_sweep_row *row) {
  for (int i = 0; i < row->count; i++) free(row->item[i].name), free(row->item[i].unit);
  free(row->item);
}

// --- The option --------------------------------------------------------------------------------------------------------

// "0.5 kg" into a number and its unit; the end of the text is `end`.
static bool read_end(const char *text, const char *end, double *value, char *unit, size_t size) {
  size_t best = 0, length = (size_t)(end - text);
  for (size_t n = 1; n <= length && n < OD_NUMBER_SIZE; n++) {
    double x;
    if (od_number_parse(text, n, false, &x)) *value = x, best = n;
  }
  const char *rest = text + best;
  while (rest < end && *rest == ' ') rest++;
  while (end > rest && end[-1] == ' ') end--;
  snprintf(unit, size, "%.*s", (int)(end - rest), rest);
  return best > 0 && isfinite(*value);
}

// "PATH=A:B:N". A unit after B is A's as well.
static bool read_axis(const char *text, axis *a) {
  const char *equals = strchr(text, '='), *first = equals ? strchr(equals, ':') : NULL,
             *second = first ? strchr(first + 1, ':') : NULL;
  char unit[80] = "";
  bool ok = second && equals - text < (long)sizeof a->path;
  if (ok) {
    snprintf(a->path, sizeof a->path, "%.*s", (int)(equals - text), text);
    ok = read_end(equals + 1 + strspn(equals + 1, " "), first, &a->from, unit, sizeof unit) &&
         read_end(first + 1 + strspn(first + 1, " "), second, &a->to, a->unit, sizeof a->unit);
  }
  if (!ok) {
    od_cli_error("--sweep: '%s' is not PATH=A:B:N, such as boom.mass='100 kg:300 kg:5'", text);
    return false;
  }
  if (unit[0] && a->unit[0] && strcmp(unit, a->unit) != 0) {
    od_cli_error("--sweep: '%s' begins in %s and ends in %s; give both in one unit", text, unit, a->unit);
    return false;
  }
  if (!a->unit[0]) snprintf(a->unit, sizeof a->unit, "%s", unit);
  return od_option_count("sweep", second + 1, &a->count);
}

// "PATH=normal:MEAN:DEVIATION" or "PATH=uniform:FROM:TO". A unit after the second number is the first one's as well.
static bool read_draw(const char *text, axis *a) {
  const char *equals = strchr(text, '='), *kind = equals ? equals + 1 + strspn(equals + 1, " ") : "";
  const char *first = strchr(kind, ':'), *second = first ? strchr(first + 1, ':') : NULL;
  char unit[80] = "";
  bool ok =
      second && equals - text < (long)sizeof a->path && od_draw_kind_find(kind, (size_t)(first - kind), &a->draw.kind);
  if (ok) {
    snprintf(a->path, sizeof a->path, "%.*s", (int)(equals - text), text);
    ok = read_end(first + 1 + strspn(first + 1, " "), second, &a->draw.a, unit, sizeof unit) &&
         read_end(second + 1 + strspn(second + 1, " "), second + strlen(second), &a->draw.b, a->unit, sizeof a->unit);
  }
  a->drawn = true;
  a->count = 1;
  if (ok && !a->unit[0]) snprintf(a->unit, sizeof a->unit, "%s", unit);
  bool one_unit = !unit[0] || strcmp(unit, a->unit) == 0, normal = a->draw.kind == OD_DRAW_NORMAL;
  if (!ok)
    od_cli_error(
        "--draw: '%s' is not PATH=normal:MEAN:DEVIATION or PATH=uniform:FROM:TO, such as "
        "ram.bore='normal:50 mm:0.1 mm'",
        text);
  else if (!one_unit)
    od_cli_error("--draw: '%s' has one number in %s and one in %s; give both in one unit", text, unit, a->unit);
  else if (normal && a->draw.b < 0)
    od_cli_error("--draw: '%s' has a negative standard deviation", text);
  else if (!normal && a->draw.a > a->draw.b)
    od_cli_error("--draw: '%s' ends below where it begins; expected uniform:%g %s:%g %s", text, a->draw.b, a->unit,
                 a->draw.a, a->unit);
  return ok && one_unit && (normal ? a->draw.b >= 0 : a->draw.a <= a->draw.b);
}

static int read_draws(const od_sweep_arguments *arguments, work *w) {
  bool ok = true;
  int draws = 0;
  w->seed = 1;
  if (arguments->drawn.count > MOST_AXES || arguments->paths.count > 0) {
    od_cli_error(
        arguments->paths.count ? "--draw and --sweep cannot both be given" : "--draw: at most %d numbers can be drawn",
        MOST_AXES);
    return OD_EXIT_BAD_INPUT;
  }
  for (int i = 0; i < arguments->drawn.count; i++) ok = read_draw(arguments->drawn.text[i], &w->axis[i]) && ok;
  ok = od_option_count("draws", arguments->draws, &draws) && ok;
  if (ok && arguments->seed && od_option_whole("seed", arguments->seed, &w->seed) >= 0) ok = false;
  if (ok && draws > MOST_POINTS) {
    od_cli_error("--draws: %d are too many; at most %d are computed", draws, MOST_POINTS);
    ok = false;
  }
  w->drawn = true;
  w->axes = arguments->drawn.count;
  w->points = draws > 0 ? draws : 100;
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

static int read_axes(const od_sweep_arguments *arguments, work *w) {
  bool ok = true;
  if (arguments->drawn.count > 0) return read_draws(arguments, w);
  double points = 1;
  if (arguments->paths.count > MOST_AXES) {
    od_cli_error("--sweep: at most %d numbers can be swept at once", MOST_AXES);
    return OD_EXIT_BAD_INPUT;
  }
  for (int i = 0; i < arguments->paths.count; i++) {
    ok = read_axis(arguments->paths.text[i], &w->axis[i]) && ok;
    points *= w->axis[i].count;
  }
  if (ok && points > MOST_POINTS) {
    od_cli_error("--sweep: %.0f points are too many; at most %d are computed", points, MOST_POINTS);
    ok = false;
  }
  w->axes = arguments->paths.count;
  w->points = (int)points;
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

// The value of an axis at a point, in the unit that it was given in; the last axis changes fastest.
static double value_at(const work *w, int point, int which) {
  if (w->axis[which].drawn) return od_draw_value(&w->axis[which].draw, w->seed, w->axis[which].path, point);
  for (int i = w->axes - 1; i > which; i--) point /= w->axis[i].count;
  const axis *a = &w->axis[which];
  int k = point % a->count;
  return a->count == 1 ? a->from : k + 1 == a->count ? a->to : a->from + (a->to - a->from) * k / (a->count - 1);
}

// --- Points ------------------------------------------------------------------------------------------------------------

static int load_point(work *w, int point) {
  const od_words *given = &w->sweep->load->set;
  char text[MOST_AXES][480];
  const char **set = calloc((size_t)(given->count + w->axes) + 1, sizeof *set);
  if (!set) return OD_EXIT_FAILED;
  for (int i = 0; i < given->count; i++) set[i] = given->text[i];
  for (int i = 0; i < w->axes; i++) {
    char number[OD_NUMBER_SIZE];
    od_number_format(number, value_at(w, point, i));
    snprintf(text[i], sizeof text[i], "%s=%s%s%s", w->axis[i].path, number, w->axis[i].unit[0] ? " " : "",
             w->axis[i].unit);
    set[given->count + i] = text[i];
  }
  od_load_arguments load = *w->sweep->load;
  load.set = (od_words){set, given->count + w->axes, 0};
  int code = od_cli_load(w->sweep->path, &load, &w->machine[point]);
  if (code >= 0 && w->drawn)
    od_cli_error(
        "draw %d of %d gives what the messages above are about: %s%s. Draw from a range in which the machine is "
        "possible, such as uniform:FROM:TO",
        point + 1, w->points, text[0], w->axes > 1 ? ", ..." : "");
  free(set);
  if (code >= 0) return code;
  for (int i = 0; i < w->axes; i++) {
    int at = od_machine_number_find(w->machine[point], w->axis[i].path);
    od_number x = {.value = value_at(w, point, i)};
    if (at >= 0) x = od_machine_number(w->machine[point], at);
    w->value[point * w->axes + i] = x.value;
    snprintf(w->axis[i].si, sizeof w->axis[i].si, "%s", x.unit ? x.unit : "1");
  }
  w->begun++;
  return -1;
}

static bool keeps_going(void *user, double done) {
  (void)done;
  return !atomic_load(&((work *)user)->stop);
}

static void *take_points(void *user) {
  work *w = user;
  while (!atomic_load(&w->stop)) {
    int point = atomic_fetch_add(&w->next, 1);
    if (point >= w->points) break;
    w->status[point] =
        w->sweep->measure(w->sweep->user, w->machine[point], keeps_going, w, &w->row[point], &w->err[point]);
    od_machine_free(w->machine[point]);
    w->machine[point] = NULL;
    if (w->status[point] != OD_INTERRUPTED) atomic_fetch_add(&w->finished, 1);
  }
  return NULL;
}

static void run_threads(work *w, int wanted, od_progress *progress) {
  const struct timespec pause = {.tv_nsec = 20000000};
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int made = 0;
  if (wanted <= 0) wanted = cores < 1 ? 1 : (int)cores;
  if (wanted > w->points) wanted = w->points;
  pthread_t *thread = calloc((size_t)wanted + 1, sizeof *thread);
  while (thread && made < wanted && pthread_create(&thread[made], NULL, take_points, w) == 0) made++;
  if (made == 0) take_points(w);
  while (atomic_load(&w->finished) < w->points && !atomic_load(&w->stop)) {
    if (!od_progress_tick(progress, (double)atomic_load(&w->finished) / w->points)) atomic_store(&w->stop, true);
    nanosleep(&pause, NULL);
  }
  for (int i = 0; i < made; i++) pthread_join(thread[i], NULL);
  free(thread);
}

// --- Results -----------------------------------------------------------------------------------------------------------

// The first row that has values says what they are called.
static const od_sweep_row *pattern_of(const work *w) {
  for (int i = 0; i < w->points; i++)
    if (w->status[i] == OD_OK) return &w->row[i];
  return NULL;
}

static od_table *make_table(work *w, const od_sweep_row *pattern) {
  int columns = w->axes + pattern->count;
  od_table *table = od_table_new(columns);
  double *row = malloc((size_t)columns * sizeof *row);
  od_status status = table && row ? OD_OK : OD_NO_MEMORY;
  for (int i = 0; i < columns && status == OD_OK; i++) {
    const struct od_sweep_value *item = i < w->axes ? NULL : &pattern->item[i - w->axes];
    status = od_table_label(table, i, item ? item->name : w->axis[i].path, item ? item->unit : w->axis[i].si);
  }
  for (int k = 0; k < w->points && status == OD_OK; k++) {
    const od_sweep_row *r = &w->row[k];
    if (w->status[k] == OD_OK && r->count != pattern->count)
      w->status[k] =
          od_fail(&w->err[k], OD_NOT_AVAILABLE, "other results than at the first point: %d numbers instead of %d",
                  r->count, pattern->count);
    for (int i = 0; i < columns; i++)
      row[i] = i < w->axes ? w->value[k * w->axes + i] : w->status[k] == OD_OK ? r->item[i - w->axes].value : NAN;
    status = od_table_append(table, row);
  }
  free(row);
  if (status == OD_OK) return table;
  od_table_free(table);
  return NULL;
}

static void point_text(const work *w, int point, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < w->axes && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s = %s", i ? ", " : "", w->axis[i].path,
                             od_display_quantity(w->value[point * w->axes + i], w->axis[i].si).text);
}

// The unit that suits the largest number of a column.
static od_display shown_in(const od_table *t, int column) {
  double largest = NAN;
  const char *unit = strcmp(t->unit[column], "1") ? t->unit[column] : "";
  for (long k = 0; k < t->rows; k++) largest = fmax(largest, fabs(t->data[k * t->columns + column]));
  return od_display_unit(unit, largest);
}

static void print(const work *w, const od_table *t, FILE *to) {
  int shown = t->columns > w->axes + SHOWN ? w->axes + SHOWN : t->columns, width[MOST_AXES + SHOWN];
  char text[OD_NUMBER_SIZE + 600];
  for (int c = 0; c < shown; c++) {
    od_display unit = shown_in(t, c);
    snprintf(text, sizeof text, unit.unit[0] ? "%.500s (%s)" : "%.500s%s", t->name[c], unit.unit);
    width[c] = od_text_widest(12, text);
    fprintf(to, "  %*s%s", width[c] - od_text_width(text), "", text);
  }
  fprintf(to, "\n");
  for (long k = 0; k < t->rows; k++) {
    for (int c = 0; c < shown; c++) {
      double value = t->data[k * t->columns + c];
      if (isnan(value))
        snprintf(text, sizeof text, "-");
      else
        od_number_round(text, value * shown_in(t, c).factor, 6);
      fprintf(to, "  %*s", width[c], text);
    }
    fprintf(to, "\n");
  }
  if (shown < t->columns)
    fprintf(to, "%d more columns are in the files of --csv, --mat and --json\n", t->columns - shown);
}

static void show_failures(const work *w) {
  int failed = 0;
  char text[600];
  for (int k = 0; k < w->points; k++) {
    if (w->status[k] == OD_OK || w->status[k] == OD_INTERRUPTED || ++failed > MOST_MESSAGES) continue;
    point_text(w, k, text, sizeof text);
    od_cli_warning("%s: %s", text, w->err[k].text[0] ? w->err[k].text : od_status_text(w->status[k]));
  }
  if (failed > MOST_MESSAGES) od_cli_warning("%d more points failed", failed - MOST_MESSAGES);
}

static json_t *sweep_json(const work *w, const od_table *t) {
  json_t *columns = json_array(), *rows = json_array(), *failures = json_array();
  for (int i = 0; i < t->columns; i++)
    json_array_append_new(columns, json_pack("{s:o, s:o, s:b}", "name", od_json_text(t->name[i]), "unit",
                                             od_json_text(t->unit[i]), "swept", i < w->axes));
  for (int k = 0; k < w->points; k++) {
    json_t *row = json_array();
    for (int i = 0; i < t->columns; i++) json_array_append_new(row, od_json_number(t->data[(long)k * t->columns + i]));
    json_array_append_new(rows, row);
    if (w->status[k] != OD_OK)
      json_array_append_new(failures,
                            json_pack("{s:i, s:o}", "row", k, "message",
                                      od_json_text(w->err[k].text[0] ? w->err[k].text : od_status_text(w->status[k]))));
  }
  json_t *object = json_pack("{s:o, s:o, s:o}", "columns", columns, "rows", rows, "failures", failures);
  if (w->drawn) {
    json_object_set_new(object, "seed", json_integer((json_int_t)w->seed));
    json_object_set_new(object, "over_draws", od_spread_json(t, 0));
  }
  return object;
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  return od_sweep_plot_write(user, path, err);
}

static int write_results(work *w) {
  const od_sweep_row *pattern = pattern_of(w);
  int counts[MOST_AXES];
  if (!pattern) {
    show_failures(w);
    od_cli_error("no point of the sweep has a result");
    return OD_EXIT_FAILED;
  }
  od_table *table = make_table(w, pattern);
  for (int i = 0; i < w->axes; i++) counts[i] = w->axis[i].count;
  if (!table || (w->sweep->finish && !w->sweep->finish(table, counts, w->axes))) {
    od_table_free(table);
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  FILE *notes = od_files_notes(w->sweep->files, w->sweep->quiet);
  if (notes == stdout && !w->drawn) print(w, table, notes);
  if (notes == stdout && w->drawn) {
    fprintf(notes, "%d draws, seed %llu\n", w->points, w->seed);
    od_spread_print(table, 0, notes);
  }
  show_failures(w);
  const od_sweep_picture picture = {table, counts, w->axes, w->sweep->drawn, w->title};
  const od_file_contents contents = {.table = table,
                                     .summary = w->sweep->files->path[OD_FILE_JSON] ? sweep_json(w, table) : NULL,
                                     .write[OD_FILE_PLOT] = write_plot,
                                     .user = &picture};
  bool ok = od_files_write(w->sweep->files, &contents, notes);
  od_table_free(table);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

int od_sweep_run(const od_sweep *sweep) {
  work w = {.sweep = sweep};
  int threads = 0, code = read_axes(sweep->arguments, &w);
  if (code < 0 && !od_option_count("threads", sweep->arguments->threads, &threads)) code = OD_EXIT_BAD_INPUT;
  if (code < 0 && sweep->files->path[OD_FILE_PLOT] && (sweep->drawn == 0 || w.axes > OD_MOST_DRAWN_AXES)) {
    od_cli_error(sweep->drawn
                     ? "--plot: a sweep of more than two numbers is not drawn; --csv and --mat have its results"
                     : "--plot: a sweep is not drawn; --csv and --mat have its numbers");
    code = OD_EXIT_BAD_INPUT;
  }
  if (code >= 0) return code;
  size_t points = (size_t)w.points + 1;
  w.machine = calloc(points, sizeof *w.machine);
  w.row = calloc(points, sizeof *w.row);
  w.status = calloc(points, sizeof *w.status);
  w.err = calloc(points, sizeof *w.err);
  w.value = calloc(points * (size_t)w.axes, sizeof *w.value);
  if (!w.machine || !w.row || !w.status || !w.err || !w.value) code = OD_EXIT_FAILED;
  for (int i = 0; w.status && i < w.points; i++) w.status[i] = OD_INTERRUPTED;  // until it has been measured
  od_progress progress = od_progress_start(sweep->quiet);
  for (int i = 0; i < w.points && code < 0 && !atomic_load(&w.stop); i++) {
    code = load_point(&w, i);
    if (!od_progress_tick(&progress, 0)) atomic_store(&w.stop, true);
    if (code < 0 && i == 0) snprintf(w.title, sizeof w.title, "%s", od_machine_title(w.machine[0]));
    if (code < 0 && i == 0) code = sweep->prepare(sweep->user, w.machine[0]);
    if (code < 0 && i == 0) code = od_files_check(sweep->files);
    if (code < 0 && i == 0) code = od_files_spare(sweep->files);
  }
  if (code < 0 && !atomic_load(&w.stop)) run_threads(&w, threads, &progress);
  od_progress_end(&progress);
  bool is_interrupted = code < 0 && atomic_load(&w.stop);
  if (is_interrupted)
    fprintf(stderr, "oleodyn: interrupted after %d of %d points%s\n", atomic_load(&w.finished), w.points,
            pattern_of(&w) ? "; the others have no values" : "");
  if (code < 0 && (!is_interrupted || pattern_of(&w))) code = write_results(&w);
  if (is_interrupted && code <= OD_EXIT_OK) code = OD_EXIT_INTERRUPTED;
  for (int i = 0; i < w.points && w.machine && w.row; i++) od_machine_free(w.machine[i]), free_row(&w.row[i]);
  void *memory[] = {w.machine, w.row, w.status, w.err, w.value};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  return code;
}

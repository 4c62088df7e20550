// Machines are loaded one after another, because the library of units is not thread-safe. The computation runs in several
// threads.
#include "options/sweep_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/option_values.h"
#include "sweep/sweep_plot.h"
#include "terminal/exit_codes.h"
#include "terminal/progress.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "io/number.h"

// --- The option --------------------------------------------------------------------------------------------------------

// Splits "0.5 kg" into a number and its unit. The text ends at `end`.
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

// Reads "PATH=A:B:N". A unit after B also applies to A.
static bool read_axis(const char *text, od_sweep_axis *a) {
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

// Reads "PATH=normal:MEAN:DEVIATION" or "PATH=uniform:FROM:TO". A unit after the second number also applies to the first.
static bool read_draw(const char *text, od_sweep_axis *a) {
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

static int read_draws(const od_sweep_arguments *arguments, od_sweep_plan *plan) {
  bool ok = true;
  int draws = 0;
  plan->seed = 1;
  if (arguments->drawn.count > OD_SWEEP_AXES || arguments->paths.count > 0) {
    od_cli_error(
        arguments->paths.count ? "--draw and --sweep cannot both be given" : "--draw: at most %d numbers can be drawn",
        OD_SWEEP_AXES);
    return OD_EXIT_BAD_INPUT;
  }
  for (int i = 0; i < arguments->drawn.count; i++) ok = read_draw(arguments->drawn.text[i], &plan->axis[i]) && ok;
  ok = od_option_count("draws", arguments->draws, &draws) && ok;
  if (ok && arguments->seed && od_option_whole("seed", arguments->seed, &plan->seed) >= 0) ok = false;
  if (ok && draws > OD_SWEEP_POINTS) {
    od_cli_error("--draws: %d are too many; at most %d are computed", draws, OD_SWEEP_POINTS);
    ok = false;
  }
  plan->is_drawn = true;
  plan->axes = arguments->drawn.count;
  plan->points = draws > 0 ? draws : 100;
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

static int read_axes(const od_sweep_arguments *arguments, od_sweep_plan *plan) {
  bool ok = true;
  if (arguments->drawn.count > 0) return read_draws(arguments, plan);
  double points = 1;
  if (arguments->paths.count > OD_SWEEP_AXES) {
    od_cli_error("--sweep: at most %d numbers can be swept at once", OD_SWEEP_AXES);
    return OD_EXIT_BAD_INPUT;
  }
  for (int i = 0; i < arguments->paths.count; i++) {
    ok = read_axis(arguments->paths.text[i], &plan->axis[i]) && ok;
    points *= plan->axis[i].count;
  }
  if (ok && points > OD_SWEEP_POINTS) {
    od_cli_error("--sweep: %.0f points are too many; at most %d are computed", points, OD_SWEEP_POINTS);
    ok = false;
  }
  plan->axes = arguments->paths.count;
  plan->points = (int)points;
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

// --- Points ------------------------------------------------------------------------------------------------------------

static int load_point(const od_sweep_command *c, od_sweep *s, int point) {
  const od_words *given = &c->load->set;
  const od_sweep_plan *plan = &s->plan;
  char text[OD_SWEEP_AXES][OD_SWEEP_SETTING];
  const char **set = calloc((size_t)(given->count + plan->axes) + 1, sizeof *set);
  od_machine *machine = NULL;
  if (!set) return OD_EXIT_FAILED;
  for (int i = 0; i < given->count; i++) set[i] = given->text[i];
  for (int i = 0; i < plan->axes; i++) {
    od_sweep_setting(plan, point, i, text[i]);
    set[given->count + i] = text[i];
  }
  od_load_arguments load = *c->load;
  load.set = (od_words){set, given->count + plan->axes, 0};
  int code = od_cli_load(c->path, &load, &machine);
  if (code >= 0 && plan->is_drawn)
    od_cli_error(
        "draw %d of %d gives what the messages above are about: %s%s. Draw from a range in which the machine is "
        "possible, such as uniform:FROM:TO",
        point + 1, plan->points, text[0], plan->axes > 1 ? ", ..." : "");
  free(set);
  if (code < 0) od_sweep_take(s, point, machine);
  return code;
}

static int load_points(const od_sweep_command *c, od_sweep *s, od_progress *progress) {
  int code = -1;
  for (int i = 0; i < s->plan.points && code < 0 && !atomic_load(&s->is_stopped); i++) {
    code = load_point(c, s, i);
    if (!od_progress_tick(progress, 0)) atomic_store(&s->is_stopped, true);
    if (code < 0 && i == 0) code = c->prepare(c->user, s->machine[0]);
    if (code < 0 && i == 0) code = od_files_check(c->files);
    if (code < 0 && i == 0) code = od_files_spare(c->files);
  }
  return code;
}

// --- Results -----------------------------------------------------------------------------------------------------------

static od_status write_plot(const void *user, const char *path, od_error *err) {
  return od_sweep_plot_write(user, path, err);
}

static int write_results(const od_sweep_command *c, od_sweep *s) {
  int counts[OD_SWEEP_AXES];
  od_table *table = od_sweep_has_results(s) ? od_sweep_table(s) : NULL;
  for (int i = 0; i < s->plan.axes; i++) counts[i] = s->plan.axis[i].count;
  bool ok = table && (!c->finish || c->finish(table, counts, s->plan.axes));
  od_result result = od_sweep_result(s, ok ? table : NULL);
  FILE *notes = od_files_notes(c->files, c->quiet);
  od_show_result(&result, ok && notes == stdout ? notes : NULL);
  if (ok) {
    const od_sweep_picture picture = {table, counts, s->plan.axes, c->drawn, s->title};
    const od_file_contents contents = {
        .table = table, .result = &result, .write[OD_FILE_PLOT] = write_plot, .user = &picture};
    ok = od_files_write(c->files, &contents, notes);
  } else {
    od_cli_error("%s", od_sweep_has_results(s) ? "memory ran out" : "no point of the sweep has a result");
  }
  od_result_free(&result);
  od_table_free(table);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

int od_sweep_command_run(const od_sweep_command *c) {
  od_sweep_plan plan = {0};
  od_sweep s;
  int threads = 0, code = read_axes(c->arguments, &plan);
  if (code < 0 && !od_option_count("threads", c->arguments->threads, &threads)) code = OD_EXIT_BAD_INPUT;
  if (code < 0 && c->files->path[OD_FILE_PLOT] && (c->drawn == 0 || plan.axes > OD_MOST_DRAWN_AXES)) {
    od_cli_error(c->drawn ? "--plot: a sweep of more than two numbers is not drawn; --csv and --mat have its results"
                          : "--plot: a sweep is not drawn; --csv and --mat have its numbers");
    code = OD_EXIT_BAD_INPUT;
  }
  if (code >= 0) return code;
  if (!od_sweep_begin(&s, &plan)) code = OD_EXIT_FAILED;
  od_progress progress = od_progress_start(c->quiet);
  if (code < 0) code = load_points(c, &s, &progress);
  if (code < 0 && !atomic_load(&s.is_stopped))
    od_sweep_run(&s, threads, c->measure, c->user, od_progress_tick, &progress);
  od_progress_end(&progress);
  bool is_interrupted = code < 0 && atomic_load(&s.is_stopped);
  if (is_interrupted)
    fprintf(stderr, "oleodyn: interrupted after %d of %d points%s\n", atomic_load(&s.finished), plan.points,
            od_sweep_has_results(&s) ? "; the others have no values" : "");
  if (code < 0 && (!is_interrupted || od_sweep_has_results(&s))) code = write_results(c, &s);
  if (is_interrupted && code <= OD_EXIT_OK) code = OD_EXIT_INTERRUPTED;
  od_sweep_free(&s);
  return code;
}

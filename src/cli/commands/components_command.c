// oleodyn components: lists the classes of elements and blocks of machine files, from their tables.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "components/component_curve.h"
#include "components/component_picture.h"
#include "components/component_reference.h"
#include "document/suggest.h"
#include "io/plot.h"
#include "memory/scoped.h"
#include "options/options.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"

// Stores `name` and its edit distance from `wrong` if this distance is less than *distance. The first word of the name is also
// compared.
static void try_name(const char *wrong, const char *name, const char **best, int *distance) {
  char beginning[80];
  snprintf(beginning, sizeof beginning, "%.*s", (int)strcspn(name, " "), name);
  const char *const candidates[] = {name, beginning};
  for (int i = 0; i < 2; i++) {
    od_nearest nearest = od_nearest_to(wrong);
    od_nearest_try(&nearest, candidates[i]);
    if (nearest.best && nearest.distance < *distance) *best = name, *distance = nearest.distance;
  }
}

// Suggests names ("did you mean 'a' or 'b'?"): all names that contain the word, else the nearest name.
static void complain_about_name(const char *wrong) {
  char list[200] = "";
  size_t used = 0;
  const char *best = NULL;
  int distance = INT_MAX;
  for (int i = 0; i < od_component_count(); i++) {
    od_component_class c = od_component_at(i);
    const char *name = od_component_name(c);
    if (*wrong && strstr(name, wrong) && used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", used ? " or " : "", name);
    try_name(wrong, name, &best, &distance);
    if (c.element && c.element->section) try_name(wrong, c.element->section, &best, &distance);
  }
  if (!used && best) used = (size_t)snprintf(list, sizeof list, "'%s'", best);
  if (used && used < sizeof list)
    od_cli_error("there is no component '%s'; did you mean %s?", wrong, list);
  else
    od_cli_error("there is no component '%s'; 'oleodyn components' lists the components", wrong);
}

// Finds a class of elements by its name or section, or a block by its type. If neither is found, prints a message and returns an
// empty result.
static od_component_class find_class(const char *name) {
  for (int i = 0; i < od_component_count(); i++) {
    od_component_class c = od_component_at(i);
    bool is_section = c.element && c.element->section && strcmp(c.element->section, name) == 0;
    if (is_section || strcmp(od_component_name(c), name) == 0) return c;
  }
  complain_about_name(name);
  return (od_component_class){0};
}

// Draws the curves of one class as a plot, writes them as a table, or both. Either path may be NULL. Returns the exit code.
static int show_curves(const od_words *names, const char *plot, const char *csv) {
  od_component_curve curve = {0};
  od_component_class found = names->count == 1 ? find_class(names->text[0]) : (od_component_class){0};
  bool drawn = found.element && od_component_curve_make(found.element, &curve);
  if (names->count != 1)
    od_cli_error("--plot and --csv show one component; expected one NAME, found %d", names->count);
  else if (!drawn)
    od_cli_error(
        "'%s' has no curve; elements with flows or forces of their own have curves, and 'oleodyn friction' draws friction laws",
        names->text[0]);
  if (!drawn) return OD_EXIT_BAD_INPUT;
  od_error err = {0};
  od_status status =
      plot ? od_plot_write(curve.table, curve.panel, found.element->equations->name, curve.note, plot, &err) : OD_OK;
  if (status == OD_OK && plot) printf("wrote %s\n", plot);
  if (status == OD_OK && csv) status = od_table_write_csv(curve.table, csv, &err);
  if (status == OD_OK && csv && strcmp(csv, "-") != 0) printf("wrote %s\n", csv);
  od_table_free(curve.table);
  return od_exit_early(status, &err);
}

// Writes all plots of the reference. Returns the exit code.
static int write_pictures(const char *folder) {
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    char name[80];
    od_error err = {0};
    if (!od_component_picture_name(c, name, sizeof name)) continue;
    od_status status = od_component_picture_write(c, folder, &err);
    if (status != OD_OK) return od_exit_early(status, &err);
  }
  return OD_EXIT_OK;
}

int od_command_components(int argc, char **argv) {
  const char *plot = NULL, *csv = NULL, *pictures = NULL;
  bool as_json = false, as_markdown = false, si = false;
  const od_option options[] = {
      {"markdown", OD_OPTION_FLAG, NULL, "print all components as a page of documentation", &as_markdown},
      {"pictures", OD_OPTION_TEXT, "FOLDER", "write the pictures of the page of --markdown into an existing folder",
       &pictures},
      {"plot", OD_OPTION_TEXT, "FILE.svg", "draw flows and forces of one component, from its equations", &plot},
      {"csv", OD_OPTION_TEXT, "FILE.csv", "write the curves of --plot as a table; - is standard output", &csv}};
  const od_usage usage = {"[NAME...]", NULL, OD_OPTIONS(options), .shared = {.as_json = &as_json, .si = &si}};
  od_words names = {0};
  OD_TRY(od_options_parse(&usage, argc, argv, &names));
  OD_SCRATCH(scratch);
  int count = names.count ? names.count : od_component_count();
  od_component_class *classes = OD_TAKE(&scratch, od_component_class, count);
  bool ok = true;
  for (int i = 0; i < count; i++) {
    classes[i] = names.count ? find_class(names.text[i]) : od_component_at(i);
    ok = ok && (classes[i].element || classes[i].block);
  }
  if (!ok) return OD_EXIT_BAD_INPUT;
  int code = pictures ? write_pictures(pictures) : OD_EXIT_OK;
  if (code != OD_EXIT_OK || (pictures && !as_json && !as_markdown && !plot && !csv)) return code;
  if (!as_json && !as_markdown && (plot || csv)) return show_curves(&names, plot, csv);
  OD_SCOPED(od_result_free)
  od_result r =
      names.count || as_json || as_markdown ? od_component_reference(classes, count, as_markdown) : od_component_list();
  if (as_json || !as_markdown) return od_show_either(&r, as_json);
  od_result_print_markdown(&r, stdout);
  return OD_EXIT_OK;
}

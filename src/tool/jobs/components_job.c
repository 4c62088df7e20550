// The job components: lists the classes of elements and blocks of machine files, from their tables.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "components/component_curve.h"
#include "components/component_picture.h"
#include "components/component_reference.h"
#include "document/suggest.h"
#include "io/plot.h"
#include "memory/scoped.h"

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
static void complain_about_name(od_job *job, const char *wrong) {
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
    od_job_error(job, "there is no component '%s'; did you mean %s?", wrong, list);
  else
    od_job_error(job, "there is no component '%s'; 'oleodyn components' lists the components", wrong);
}

// Finds a class of elements by its name or section, or a block by its type. If neither is found, prints a message and returns an
// empty result.
static od_component_class find_class(od_job *job, const char *name) {
  for (int i = 0; i < od_component_count(); i++) {
    od_component_class c = od_component_at(i);
    bool is_section = c.element && c.element->section && strcmp(c.element->section, name) == 0;
    if (is_section || strcmp(od_component_name(c), name) == 0) return c;
  }
  complain_about_name(job, name);
  return (od_component_class){0};
}

// The curves of one class, for the writer of the plot.
typedef struct shown_curves {
  const od_element_description *c;
  const od_component_curve *curve;
} shown_curves;

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const shown_curves *s = user;
  return od_plot_write(s->curve->table, s->curve->panel, s->c->equations->name, s->curve->note, path, err);
}

// Draws the curves of one class as a plot, writes them as a table, or both. Returns the outcome.
static int show_curves(od_job *job, const od_words *names) {
  od_component_curve curve = {0};
  od_component_class found = names->count == 1 ? find_class(job, names->text[0]) : (od_component_class){0};
  od_error err = {0};
  od_status status = found.element ? od_component_curve_make(found.element, &curve, &err) : OD_OK;
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  bool drawn = curve.table != NULL;
  if (names->count != 1)
    od_job_error(job, "--plot and --csv show one component; expected one NAME, found %d", names->count);
  else if (!drawn)
    od_job_error(
        job, "'%s' has no curve; choose an element with a flow or a force, or use 'oleodyn friction' for friction laws",
        names->text[0]);
  if (!drawn) return OD_JOB_BAD_INPUT;
  const shown_curves shown = {found.element, &curve};
  const od_file_contents contents = {.table = &curve.table, .write[OD_FILE_PLOT] = write_plot, .user = &shown};
  int outcome = od_job_finish(job, &contents, NULL);
  od_table_free(curve.table);
  return outcome;
}

// Writes all plots of the reference. Returns the outcome.
static int write_pictures(od_job *job, const char *folder) {
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    char name[80];
    od_error err = {0};
    od_status status = od_component_picture_name(c, name, sizeof name, &err);
    if (status == OD_OK && name[0]) status = od_component_picture_write(c, folder, &err);
    if (status != OD_OK) return od_job_end_early(job, status, &err);
  }
  return OD_JOB_DONE;
}

int od_kind_components(od_job *job) {
  const char *pictures = NULL;
  bool as_markdown = false;
  const od_option options[] = {
      {"markdown", OD_OPTION_FLAG, NULL, "print all components as a page of documentation", &as_markdown},
      {"pictures", OD_OPTION_TEXT, "FOLDER", "write the pictures of the page of --markdown into an existing folder",
       &pictures}};
  const od_usage usage = {"[NAME...]", NULL, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_CSV] = "the curves of one component",
                                     .file[OD_FILE_JSON] = "the keys of the components",
                                     .file[OD_FILE_PLOT] = "flows and forces of one component, from its equations",
                                     .is_json_alone = true,
                                     .si = true}};
  od_words names = {0};
  OD_TRY(od_job_begin(job, &usage, 0, INT_MAX, &names));
  OD_TRY(od_job_check_files(job));
  bool as_json = job->files.path[OD_FILE_JSON];
  bool curves = !as_json && !as_markdown && (job->files.path[OD_FILE_PLOT] || job->files.path[OD_FILE_CSV]);
  OD_SCRATCH(scratch);
  int count = names.count ? names.count : od_component_count();
  od_component_class *classes = OD_TAKE(&scratch, od_component_class, count);
  bool ok = true;
  OD_TRY(od_job_has_memory(job, &scratch));
  for (int i = 0; i < count; i++) {
    classes[i] = names.count ? find_class(job, names.text[i]) : od_component_at(i);
    ok = ok && (classes[i].element || classes[i].block);
  }
  if (!ok) return OD_JOB_BAD_INPUT;
  int code = pictures ? write_pictures(job, pictures) : OD_JOB_DONE;
  if (code != OD_JOB_DONE || (pictures && !as_json && !as_markdown && !curves)) return code;
  if (curves) return show_curves(job, &names);
  OD_SCOPED(od_result_free)
  od_result r =
      names.count || as_json || as_markdown ? od_component_reference(classes, count, as_markdown) : od_component_list();
  const od_file_contents contents = {.result = &r};
  if (as_json || !as_markdown) return od_job_finish(job, &contents, NULL);
  OD_TRY(od_job_has_memory(job, &r.arena));
  od_result_print_markdown(&r, stdout);
  return OD_JOB_DONE;
}

// The page in its order: what it is about, findings, parameters, identifiability, measured and predicted, what is left
// over.
#include "report/fit_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/fit_sections.h"

enum { MOST_ROWS = 1000, MOST_HEAT = 23, MOST_NAMED = 4 };

// --- The table of samples -----------------------------------------------------------------------------------------

od_fit_rows od_fit_rows_of(const od_fitted *f, int set) {
  long before = 0;
  for (int i = 0; i < set; i++) before += f->set[i].rows;
  return (od_fit_rows){f->table->data + before * f->table->columns, f->set[set].rows};
}

int od_fit_column(const od_fitted *f, int sensor, od_fit_kind kind) {
  return 2 + od_machine_input_count(f->plan->e->model) + 3 * sensor + (int)kind;
}

// --- What it is about ---------------------------------------------------------------------------------------------

static void report_set(od_page *p, const od_fit_set_result *s) {
  const od_fit_set *set = s->data->set;
  const char *what = s->validates ? "for validation" : s->fitted < s->rows ? "fitted but for its end" : "fitted";
  if (set->log)
    od_page_fact(p, s->name, "%s: %s, %ld samples", what, set->plan.file, s->rows);
  else
    od_page_fact(p, s->name, "%s: simulated%s, %ld samples", what, set->clean ? " without noise" : "", s->rows);
}

static void report_facts(od_fit_report *a) {
  const od_experiment *e = a->e;
  const od_fitted *f = a->f;
  od_page *p = a->page;
  od_page_facts_begin(p);
  od_page_fact(p, "Fit", "%s%s%s", e->path, e->variant ? ", variant " : "", e->variant ? e->variant : "");
  od_page_machine_fact(p, e->model);
  if (od_machine_variant(e->model)) od_page_fact(p, "Model", "variant %s", od_machine_variant(e->model));
  od_page_replaced_fact(p, "Set in the true machine", od_machine_numbers(e->truth));
  od_page_replaced_fact(p, "Set in the model", od_machine_numbers(e->model));
  od_page_replaced_fact(p, "Set in the file", &e->file->numbers);
  for (int i = 0; i < f->sets && i < MOST_ROWS; i++) report_set(p, &f->set[i]);
  char search[200];
  od_fit_search_text(f, search, sizeof search);
  od_page_fact(p, "Search", "%s; predictions: %s%s; %s", od_fit_methods[f->plan->method], od_rule_name(f->rule),
               f->used_modes ? " by modes" : "", search);
  for (int i = 0; i < f->sets && i < MOST_ROWS; i++)
    if (f->set[i].segments > 0)
      od_page_fact(p, "Shooting", "%s: %d segments, the largest jump of a state between them %.1g of its range",
                   f->set[i].name, f->set[i].segments, f->set[i].gap);
  od_page_facts_end(p);
}

// --- Parameters ---------------------------------------------------------------------------------------------------

static const char *remark(const od_fitted *f, int i) {
  if (f->search->at_bound[i]) return f->search->at_bound[i] < 0 ? "at its lower bound" : "at its upper bound";
  if (od_fit_is_fixed(f, i)) return "fixed by constraints";
  return isinf(f->sigma[i]) ? "not identifiable alone" : "";
}

// Columns that are only there when they say something.
typedef struct parameter_columns {
  bool white, shift, truth;
} parameter_columns;
static parameter_columns columns_of(const od_fit_report *a) {
  parameter_columns c = {.white = a->f->widened, .shift = a->f->better_substeps > 0};
  for (int i = 0; i < a->e->parameters; i++) c.truth = c.truth || !isnan(a->e->parameter[i].truth);
  return c;
}

static void interval_cell(od_page *p, double sigma, double factor, bool none) {
  char text[OD_NUMBER_SIZE];
  od_display_uncertainty(text, OD_NORMAL95 * sigma * factor);
  od_page_cell(p, "%s", none ? "-" : text);
}

static void parameter_row(od_fit_report *a, int i, parameter_columns c) {
  const od_estimated *p = &a->e->parameter[i];
  const od_fitted *f = a->f;
  double half = OD_NORMAL95 * f->sigma[i], shift = f->shift[i] / f->sigma[i];
  od_display shown = od_display_unit(p->unit, od_larger(f->estimate[i], od_larger(p->start, p->truth)));
  bool doubtful = isinf(half) || f->search->at_bound[i] || od_fit_is_fixed(f, i);
  od_page_row(a->page, p->path);
  od_page_cell(a->page, "%s", shown.unit);
  od_page_value_cell(a->page, isfinite(p->low) ? p->low : (double)NAN, NAN, shown.factor);
  od_page_value_cell(a->page, isfinite(p->high) ? p->high : (double)NAN, NAN, shown.factor);
  od_page_value_cell(a->page, p->start, NAN, shown.factor);
  od_page_value_cell(a->page, f->estimate[i], doubtful ? (double)NAN : half, shown.factor);
  interval_cell(a->page, f->sigma[i], shown.factor, doubtful);
  if (c.white) interval_cell(a->page, f->sigma_white[i], shown.factor, doubtful);
  if (c.shift && (doubtful || isnan(shift)))
    od_page_cell(a->page, "-");
  else if (c.shift)
    od_page_marked_cell(a->page, fabs(shift) > 0.5, "%.2g", shift);
  if (c.truth) od_page_value_cell(a->page, p->truth, NAN, shown.factor);
  od_page_cell(a->page, "%s", remark(f, i));
}

static void report_parameters(od_fit_report *a) {
  parameter_columns c = columns_of(a);
  od_page_column columns[11] = {{"parameter", true}, {"unit", true},      {"low", false},        {"high", false},
                                {"start", false},    {"estimate", false}, {"\u00b1 95 %", false}};
  int count = 7;
  if (c.white) columns[count++] = (od_page_column){"\u00b1 if white", false};
  if (c.shift) columns[count++] = (od_page_column){"shift by steps, sigmas", false};
  if (c.truth) columns[count++] = (od_page_column){"true", false};
  columns[count++] = (od_page_column){"", true};
  od_page_section(a->page, "Parameters");
  od_page_table_begin(a->page, columns, count);
  for (int i = 0; i < a->e->parameters && i < MOST_ROWS; i++) parameter_row(a, i, c);
  od_page_table_end(a->page);
  if (c.white)
    od_page_text(
        a->page,
        "Residuals are not white, and the intervals allow for that: samples up to %ld rows apart may depend on "
        "each other. Beside them stand the narrower ones that white residuals would leave.",
        a->f->window);
  if (a->e->parameters > MOST_ROWS)
    od_page_text(a->page, "Shown are the first %d of %d parameters.", MOST_ROWS, a->e->parameters);
}

static void report_combinations(od_fit_report *a) {
  static const od_page_column columns[] = {
      {"combination", true}, {"value, SI", false}, {"\u00b1 95 %", false}, {"\u00b1 in percent", false}};
  const od_fitted *f = a->f;
  if (f->plan->combinations == 0) return;
  od_page_heading(a->page, "Combinations");
  od_page_table_begin(a->page, columns, 4);
  for (int i = 0; i < f->plan->combinations && i < MOST_ROWS; i++) {
    double value = f->combination_value[i], half = OD_NORMAL95 * f->combination_sigma[i];
    // SI units come in all sizes: digits count, not decimals.
    bool known = isfinite(half) && half > 0;
    int digits = known && fabs(value) > half ? 2 + (int)fmin(log10(fabs(value) / half), 15) : 2;
    od_page_row(a->page, f->plan->combination[i].name);
    od_page_cell(a->page, "%.*g", known ? digits : 5, value);
    if (known)
      od_page_cell(a->page, "%.2g", half);
    else
      od_page_cell(a->page, "not identifiable");
    od_page_percent_cell(a->page, isfinite(half) ? half / fabs(value) : (double)NAN);
  }
  od_page_table_end(a->page);
}

static void report_constraints(od_fit_report *a) {
  static const od_page_column columns[] = {{"constraint", true}, {"multiplier, SI", false}, {"", true}};
  const od_fitted *f = a->f;
  if (f->search->constraints == 0 || f->only_predicted) return;
  od_page_heading(a->page, "Constraints");
  od_page_text(
      a->page,
      "A multiplier is how much half the sum of squared residuals would fall if an active constraint were moved "
      "by one SI unit.");
  od_page_table_begin(a->page, columns, 3);
  for (int i = 0; i < f->search->constraints && i < MOST_ROWS; i++) {
    char text[700];
    od_fit_constraint_text(f, i, text, sizeof text);
    od_page_row(a->page, f->plan->constraint[i].text);
    if (f->search->active[i])
      od_page_cell(a->page, "%.4g", f->search->multiplier[i]);
    else
      od_page_cell(a->page, "-");
    od_page_marked_cell(a->page, od_fit_constraint_is_doubtful(f, i), "%s", text);
  }
  od_page_table_end(a->page);
}

// --- Identifiability ----------------------------------------------------------------------------------------------

// The parameters that a direction is mostly made of, the largest first.
static void name_direction(const od_fitted *f, int k, char *text, size_t size) {
  const od_identifiability *id = f->identifiability;
  const double *v = id->direction + k * id->columns;
  double below = INFINITY, most = 0;
  text[0] = '\0';
  for (int i = 0; i < id->columns; i++) most = fmax(most, fabs(v[i]));
  for (int n = 0; n < MOST_NAMED; n++) {
    int best = -1;
    for (int i = 0; i < id->columns; i++)
      if (fabs(v[i]) < below && (best < 0 || fabs(v[i]) > fabs(v[best]))) best = i;
    if (best < 0 || fabs(v[best]) < 0.3 * most) return;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.80s", used ? ", " : "", f->name[best]);
    below = fabs(v[best]);
  }
}

static void report_directions(od_fit_report *a) {
  static const od_page_column columns[] = {
      {"direction", true}, {"singular value", false}, {"known to, percent", false}, {"", true}, {"mostly", true}};
  const od_identifiability *id = a->f->identifiability;
  od_page_text(
      a->page,
      "Directions in which all parameters change together, each in parts of its own size, the best "
      "identifiable ones first. A singular value of 100 means that the data know a change along that direction to 1\u00a0%% "
      "of the parameters' sizes (one standard deviation of the expected noise); below 1 the noise hides it, and "
      "where it is nothing but rounding the data do not change at all.");
  if (id->tied > 0)
    od_page_text(a->page, "%d of %d directions are fixed by constraints; the table has the others.", id->tied,
                 id->columns);
  od_page_table_begin(a->page, columns, 5);
  for (int k = id->tied; k < id->columns && k < MOST_ROWS; k++) {
    char name[40], text[400];
    bool null = k >= id->columns - id->nulls, weak = !null && id->singular[k] < 1;
    snprintf(name, sizeof name, "%d", k + 1 - id->tied);
    name_direction(a->f, k, text, sizeof text);
    od_page_row(a->page, name);
    if (null)
      od_page_cell(a->page, "0");
    else
      od_page_cell(a->page, "%.3g", id->singular[k]);
    if (null)
      od_page_cell(a->page, "-");
    else
      od_page_cell(a->page, "%.3g", 100 / id->singular[k]);
    od_page_marked_cell(a->page, null || weak, "%s",
                        null   ? "not identifiable"
                        : weak ? "weakly identifiable"
                               : "identifiable");
    od_page_cell(a->page, "%s", text);
  }
  od_page_table_end(a->page);
}

static void report_correlations(od_fit_report *a) {
  const od_fitted *f = a->f;
  int n = a->e->parameters, shown = 0, index[MOST_HEAT];
  for (int i = 0; i < n && shown < MOST_HEAT; i++)
    if (isfinite(f->sigma[i]) && f->sigma[i] > 0) index[shown++] = i;
  if (shown < 2) return;
  od_page_heading(a->page, "Correlations of the estimates' errors");
  od_page_text(
      a->page,
      "Of parameters that are identifiable one by one. Near 1 or \u22121 two of them can hardly be told apart.");
  od_page_column columns[MOST_HEAT + 1] = {{"", true}};
  char number[MOST_HEAT][12], name[140];
  for (int i = 0; i < shown; i++) {
    snprintf(number[i], sizeof number[i], "%d", i + 1);
    columns[i + 1].title = number[i];
  }
  od_page_table_begin(a->page, columns, shown + 1);
  for (int i = 0; i < shown; i++) {
    snprintf(name, sizeof name, "%d\u2002%.100s", i + 1, f->name[index[i]]);
    od_page_row(a->page, name);
    for (int j = 0; j < shown; j++) od_page_heat_cell(a->page, f->correlation[index[i] * n + index[j]]);
  }
  od_page_table_end(a->page);
}

static void report_identifiability(od_fit_report *a) {
  od_page_section(a->page, "Identifiability");
  if (a->f->identifiability) report_directions(a);
  report_correlations(a);
}

// --- What is left over --------------------------------------------------------------------------------------------

static void percent_cell(od_page *p, double value) {
  if (isnan(value))
    od_page_cell(p, "-");
  else
    od_page_cell(p, "%.2f", value);
}

static void quality_row(od_fit_report *a, int set, int sensor, bool unseen) {
  const od_fit_set_result *s = &a->f->set[set];
  const od_sensor *its = &a->e->sensor[sensor];
  const od_fit_quality *q = unseen ? &s->unseen_quality[sensor] : &s->fitted_quality[sensor];
  od_display shown = od_display_unit(its->unit, q->rms);
  od_page *p = a->page;
  od_page_row(p, s->name);
  od_page_cell(p, "%s", its->name);
  od_page_cell(p, "%s", unseen ? "validate" : "fit");
  od_page_cell(p, "%ld", q->samples);
  od_page_cell(p, "%ld", q->missing);
  percent_cell(p, q->start_fit);
  percent_cell(p, q->fit);
  od_page_cell(p, "%s", od_quantity_alone(q->rms, q->rms / OD_NORMAL95, its->unit, q->rms).text);
  od_page_value_cell(p, a->f->data[set]->sigma[sensor], NAN, shown.factor);
  if (isnan(q->lag1))
    od_page_cell(p, "-");
  else
    od_page_cell(p, "%.3f", q->lag1);
  if (isnan(q->white))
    od_page_cell(p, "-");
  else
    od_page_marked_cell(p, !unseen && od_fit_is_coloured(q), "%s (p %.3f)", q->white < OD_FIT_UNLIKELY ? "no" : "yes",
                        q->white);
}

static void report_residuals(od_fit_report *a) {
  static const od_page_column columns[] = {{"set", true},           {"sensor", true},         {"use", true},
                                           {"samples", false},      {"missing", false},       {"fit before, %", false},
                                           {"fit after, %", false}, {"residual, rms", false}, {"expected noise", false},
                                           {"lag 1", false},        {"white", true}};
  od_page_section(a->page, "What is left over");
  od_page_text(
      a->page,
      "Fit: 100\u00a0%% less the size of the residuals over that of the signal's movement about its mean. White: Ljung "
      "and Box's sum over 20 lags, with the probability p that a white series' is larger.");
  od_page_table_begin(a->page, columns, 11);
  for (int set = 0; set < a->f->sets; set++)
    for (int i = 0; i < a->e->sensors && i < MOST_ROWS; i++) {
      if (a->f->set[set].fitted > 0) quality_row(a, set, i, false);
      if (a->f->set[set].fitted < a->f->set[set].rows) quality_row(a, set, i, true);
    }
  od_page_table_end(a->page);
  od_fit_report_residuals(a);
}

// --- All of it ----------------------------------------------------------------------------------------------------

od_status od_fit_report_write(const od_fitted *f, const char *message, const char *path, od_error *err) {
  const od_experiment *e = f->plan->e;
  if (!f->table || f->table->rows == 0) return od_fail(err, OD_BAD_ARGUMENT, "there is nothing to report");
  od_fit_report a = {.f = f, .e = e, .message = message};
  a.page = od_page_new("Fit report", e->title && e->title[0] ? e->title : e->path);
  if (!a.page) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  report_facts(&a);
  od_fit_report_findings(&a);
  report_parameters(&a);
  report_combinations(&a);
  report_constraints(&a);
  report_identifiability(&a);
  od_fit_report_sets(&a);
  report_residuals(&a);
  od_status status = od_page_write(a.page, path, err);
  od_page_free(a.page);
  return status;
}

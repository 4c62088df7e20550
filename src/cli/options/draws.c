#include "options/draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"

const double od_spread_levels[5] = {0.01, 0.05, 0.5, 0.95, 0.99};

// --- Spreads ------------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Straight lines between the sorted values.
static double quantile(const double *sorted, long count, double level) {
  double at = level * (double)(count - 1);
  long below = (long)at;
  if (below + 1 >= count) return sorted[count - 1];
  return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

bool od_spread_of(const od_table *table, int column, od_spread *out) {
  double *value = malloc(((size_t)table->rows + 1) * sizeof *value), sum = 0, squares = 0;
  *out = (od_spread){.mean = NAN, .deviation = NAN, .quantile = {NAN, NAN, NAN, NAN, NAN}};
  if (!value) return false;
  for (long i = 0; i < table->rows; i++) {
    double x = table->data[i * table->columns + column];
    if (isfinite(x)) value[out->count++] = x;
  }
  for (long i = 0; i < out->count; i++) sum += value[i];
  if (out->count > 0) out->mean = sum / (double)out->count;
  for (long i = 0; i < out->count; i++) squares += (value[i] - out->mean) * (value[i] - out->mean);
  if (out->count > 1) out->deviation = sqrt(squares / (double)(out->count - 1));
  qsort(value, (size_t)out->count, sizeof *value, by_size);
  for (int k = 0; k < 5 && out->count > 0; k++) out->quantile[k] = quantile(value, out->count, od_spread_levels[k]);
  free(value);
  return true;
}

static void cell(double value, double factor, FILE *to) {
  char text[OD_NUMBER_SIZE];
  od_number_round(text, value * factor, 6);
  fprintf(to, "  %12s", isnan(value) ? "-" : text);
}

bool od_spread_print(const od_table *table, int first, FILE *to) {
  char name[600];
  int widest = 12;
  for (int c = first; c < table->columns; c++) widest = od_text_widest(widest, table->name[c]);
  fprintf(to, "  %-*s  %-8s  %12s  %12s", widest, "over the draws", "unit", "mean", "deviation");
  for (int k = 0; k < 5; k++) {
    snprintf(name, sizeof name, "%g %%", 100 * od_spread_levels[k]);
    fprintf(to, "  %12s", name);
  }
  fprintf(to, "\n");
  for (int c = first; c < table->columns; c++) {
    od_spread s;
    if (!od_spread_of(table, c, &s)) return false;
    double largest = fmax(fabs(s.quantile[0]), fabs(s.quantile[4]));
    od_display unit = od_display_unit(strcmp(table->unit[c], "1") ? table->unit[c] : "", largest);
    fprintf(to, "  %s%*s  %-8s", table->name[c], widest - od_text_width(table->name[c]), "", unit.unit);
    cell(s.mean, unit.factor, to);
    cell(s.deviation, unit.factor, to);
    for (int k = 0; k < 5; k++) cell(s.quantile[k], unit.factor, to);
    fprintf(to, "\n");
  }
  return true;
}

json_t *od_spread_json(const od_table *table, int first) {
  json_t *list = json_array();
  for (int c = first; c < table->columns; c++) {
    od_spread s;
    if (!od_spread_of(table, c, &s)) continue;
    json_t *levels = json_array();
    for (int k = 0; k < 5; k++)
      json_array_append_new(levels, json_pack("{s:o, s:o}", "level", od_json_number(od_spread_levels[k]), "value",
                                              od_json_number(s.quantile[k])));
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:I, s:o, s:o, s:o}", "name", od_json_text(table->name[c]), "unit",
                        od_json_text(table->unit[c]), "count", (json_int_t)s.count, "mean", od_json_number(s.mean),
                        "deviation", od_json_number(s.deviation), "quantiles", levels));
  }
  return list;
}

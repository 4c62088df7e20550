// The data of a page, for its script and for other programs: series of numbers, charts and other objects, written as JSON. The format is in
// docs/report-pages.md. Numbers of series have 16 bits (envelopes: 12 bits) between the least and the greatest value. Long series are
// thinned.
#ifndef OD_REPORT_PAGE_DATA_H
#define OD_REPORT_PAGE_DATA_H

#include <jansson.h>

#include "io/chart.h"
#include "io/frames.h"

typedef struct od_page_data od_page_data;

// Creates empty data of a page. Returns NULL if an allocation fails. Later failures are recorded: od_page_data_is_complete().
od_page_data *od_page_data_new(void);
void od_page_data_free(od_page_data *d);
OD_OWNED_POINTER(od_page_data, od_page_data_free);
// Returns whether all allocations for the data of the page succeeded.
bool od_page_data_is_complete(const od_page_data *d);
// Sets the largest number of intervals of the following series.
void od_page_data_limit(od_page_data *d, long intervals);

// Sets a field. Takes ownership of the value.
void od_page_data_set(od_page_data *d, const char *key, json_t *value);

// The description of a series; NULL and zero: none.
typedef struct od_series_facts {
  const char *name;  // output of the machine. Its part and its quantity follow from the name
  const char *of;    // kind of value, such as "estimate", "truth", "measured"; NULL: the machine itself
  const char *si, *unit;
  double factor;  // displayed number = SI number * factor; zero: 1
  bool is_log;    // whether logarithms are stored, because the numbers are shown on a logarithmic axis
} od_series_facts;
// Add a series, in SI units, and return its index. Equal series are stored once. is_exact: the values of frames are stored even if values
// between the frames are beyond them. Returns -1 if the series has no values or an allocation fails.
int od_page_data_series(od_page_data *d, const od_series_facts *facts, od_series x, od_series y, bool is_exact);
int od_page_data_frames(od_page_data *d, const od_series_facts *facts, od_frame_column column, bool is_exact);
// Returns the index of the series of an output (of: as in od_series_facts); -1: there is no such series.
int od_page_data_find(const od_page_data *d, const char *name, const char *of);
// Returns the number of charts on the page.
int od_page_data_charts(const od_page_data *d);

// An axis of a chart: its unit and its range.
typedef struct od_data_axis {
  const char *name, *si, *unit;
  double factor;     // displayed number = SI number * factor
  double drawn;      // number of a shape = SI number * drawn
  double low, high;  // the displayed range, in SI units
  bool is_log;
} od_data_axis;
// Adds a chart: od_page_data_chart_begin(), od_page_data_draw() for each shape, od_page_data_chart_end().
typedef struct od_data_chart {
  const char *title, *note;
  od_data_axis x, y;
  bool is_over_time, has_equal_scales;
  bool has_outputs;     // whether the names of lines are outputs of the machine
  const char *subject;  // the output of the machine that all lines show: estimated, true, measured; NULL: none
} od_data_chart;
void od_page_data_chart_begin(od_page_data *d, const od_data_chart *chart);
void od_page_data_draw(od_page_data *d, const od_data_chart *chart, const od_drawn *drawn);
// Adds to the last line of the chart: its values change by weight(x) times the difference of the series `by` from its last value.
void od_page_data_move(od_page_data *d, int by, od_series x, od_series weight);
void od_page_data_chart_end(od_page_data *d);

// Writes bytes as base64 of a zlib stream. Returns false if an allocation fails.
bool od_page_data_write_packed(const void *bytes, size_t size, FILE *to);
// Writes the data as one JSON object in which no character has a meaning in HTML or XML. Returns false if an allocation fails.
bool od_page_data_write(od_page_data *d, FILE *to);

#endif

// Metrics in the text format of Prometheus: for the page, and as a file for the textfile collector of the node exporter. The file
// is replaced only when it is complete.
#include <math.h>
#include <string.h>

#include "io/atomic_file.h"
#include "operation/operation.h"

// Writes a text as the value of a label.
static void print_label(FILE *to, const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') putc('\\', to);
    if (*c == '\n')
      fputs("\\n", to);
    else
      putc(*c, to);
  }
}

static void print_name(FILE *to, const char *metric, const od_machine_thread *r) {
  fprintf(to, "oleodyn_%s{machine=\"", metric);
  print_label(to, r->settings->name);
}

static void print_number(FILE *to, double value) {
  if (isnan(value))
    fputs("NaN\n", to);
  else if (isinf(value))
    fputs(value > 0 ? "+Inf\n" : "-Inf\n", to);
  else
    fprintf(to, "%.17g\n", value);
}

static void print_head(FILE *to, const char *metric, const char *type, const char *help) {
  fprintf(to, "# HELP oleodyn_%s %s\n# TYPE oleodyn_%s %s\n", metric, help, metric, type);
}

// --- Counters -----------------------------------------------------------------------------------------------------

typedef struct counts {
  double value[12];
} counts;

static const struct {
  const char *name, *help;
} counters[] = {
    {"samples_total", "Samples that the observer used."},
    {"samples_failed_total", "Samples whose step failed."},
    {"samples_held_total", "Samples at which the last estimate was kept."},
    {"samples_late_total", "Samples that arrived too late."},
    {"samples_historical_total", "Late samples that the sender had kept while it had no connection."},
    {"samples_repeated_total", "Samples that arrived more than once."},
    {"samples_reordered_total", "Samples that were sorted in."},
    {"samples_refused_total", "Messages without a usable sample."},
    {"samples_overrun_total", "Samples left out because the observer was too slow or the twin ended."},
    {"rows_dropped_total", "Observed samples that were not written because the writer was too slow."},
    {"samples_replayed_total", "Samples left out because the observer continued from a later checkpoint or row."}};
enum { COUNTERS = sizeof counters / sizeof *counters };

static counts counts_of(od_machine_thread *r) {
  long overrun = 0;
  const bool has_rows = atomic_load_explicit(&r->head, memory_order_acquire) != NULL;
  if (has_rows) od_sample_queue_length(&r->queue, &overrun);
  const long dropped = has_rows ? atomic_load(&r->ring.dropped) : 0;
  pthread_mutex_lock(&r->lock);
  const od_sample_counts c = r->counts;
  pthread_mutex_unlock(&r->lock);
  return (counts){{(double)r->taken, (double)r->failed, (double)r->held, (double)c.late, (double)c.historical,
                   (double)c.repeated, (double)c.reordered, (double)atomic_load(&r->refused), (double)overrun,
                   (double)dropped, (double)c.replayed}};
}

static void print_counters(FILE *to, od_twin_run *o) {
  for (int k = 0; k < COUNTERS; k++) {
    print_head(to, counters[k].name, "counter", counters[k].help);
    for (int i = 0; i < o->twin->machines; i++) {
      const counts c = counts_of(&o->machine[i]);
      print_name(to, counters[k].name, &o->machine[i]);
      fputs("\"} ", to);
      print_number(to, c.value[k]);
    }
  }
  print_head(to, "samples_missing", "gauge", "Sequence numbers that have not arrived.");
  for (int i = 0; i < o->twin->machines; i++) {
    od_machine_thread *r = &o->machine[i];
    pthread_mutex_lock(&r->lock);
    const long missing = r->counts.missing;
    pthread_mutex_unlock(&r->lock);
    print_name(to, "samples_missing", r);
    fprintf(to, "\"} %ld\n", missing);
  }
}

static void print_latency(FILE *to, od_twin_run *o) {
  print_head(to, "latency_seconds", "histogram", "Time from the arrival of a sample to its estimate.");
  for (int i = 0; i < o->twin->machines; i++) {
    const od_machine_thread *r = &o->machine[i];
    long sum = 0;
    for (int k = 0; k < OD_LATENCY_CLASSES; k++) {
      sum += r->latency[k];
      print_name(to, "latency_seconds_bucket", r);
      if (k < OD_LATENCY_CLASSES - 1)
        fprintf(to, "\",le=\"%g\"} %ld\n", od_latency_limits[k], sum);
      else
        fprintf(to, "\",le=\"+Inf\"} %ld\n", sum);
    }
    print_name(to, "latency_seconds_sum", r);
    fprintf(to, "\"} %.9g\n", r->latency_sum);
    print_name(to, "latency_seconds_count", r);
    fprintf(to, "\"} %ld\n", sum);
  }
}

// --- Values -------------------------------------------------------------------------------------------------------

// Writes all columns with a prefix, such as "estimate.", of the last row of each machine.
static void print_values(FILE *to, od_twin_run *o, const char *metric, const char *prefix, const char *help) {
  const size_t length = strlen(prefix);
  print_head(to, metric, "gauge", help);
  for (int i = 0; i < o->twin->machines; i++) {
    const od_machine_thread *r = &o->machine[i];
    const od_row_head *head = atomic_load_explicit(&((od_machine_thread *)r)->head, memory_order_acquire);
    if (!head || !r->last || isnan(r->last_t)) continue;
    for (int c = 1; c < head->columns; c++) {
      if (strncmp(head->name[c], prefix, length) != 0) continue;
      print_name(to, metric, r);
      fputs("\",channel=\"", to);
      print_label(to, head->name[c] + length);
      fputs("\",unit=\"", to);
      print_label(to, head->unit[c]);
      fputs("\"} ", to);
      print_number(to, r->last[c]);
    }
  }
}

void od_metrics_print(FILE *to, od_twin_run *o) {
  print_counters(to, o);
  print_latency(to, o);
  print_head(to, "sample_time_seconds", "gauge", "Time of the last sample, by the clock of the machine.");
  for (int i = 0; i < o->twin->machines; i++) {
    print_name(to, "sample_time_seconds", &o->machine[i]);
    fputs("\"} ", to);
    print_number(to, o->machine[i].last_t);
  }
  print_values(to, o, "estimate", "estimate.", "Estimates of outputs and parameters, in SI units.");
  print_values(to, o, "sigma", "sigma.", "Standard deviations of the estimates, in SI units.");
  print_values(to, o, "measured", "measured.", "Measurements, in SI units.");
  if (o->history) {
    print_head(to, "history_bytes", "gauge", "Size of the used part of the history, bytes.");
    fprintf(to, "oleodyn_history_bytes %.0f\n", od_history_size(o->history));
  }
}

od_status od_metrics_write(od_twin_run *o, od_error *err) {
  od_atomic_file file;
  od_status status = od_atomic_open(&file, o->twin->metrics, err);
  if (status != OD_OK) return status;
  od_metrics_print(file.file, o);
  return od_atomic_commit(&file, err);
}

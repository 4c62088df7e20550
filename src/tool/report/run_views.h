// Pictures of a run for its page: the machine and its circuit, moved by outputs that the run records for this purpose. These outputs are
// not judged and are in no other file. Charts by quantity show the most important of these outputs.
#ifndef OD_REPORT_RUN_VIEWS_H
#define OD_REPORT_RUN_VIEWS_H

#include "circuit/diagram.h"
#include "findings/findings.h"
#include "io/frames.h"
#include "memory/scoped.h"
#include "oleodyn/machine.h"
#include "scene/scene.h"
#include "simulate/run_watch.h"

typedef struct od_run_views {
  const od_machine *machine;
  const od_scene *scene;      // NULL: nothing to draw
  const od_circuit *circuit;  // NULL: no circuit
  const int *output;  // recorded outputs, each once. The first `bound` outputs move the pictures or belong to findings
  int outputs, bound;
  double interval;    // time between frames, s
  long intervals;     // largest number of intervals between the frames of a series
  od_frames *frames;  // NULL: the run has no rows
  const char *of;     // machine of an observer: "estimate" or "truth"; NULL: a simulated machine
  od_arena arena;
} od_run_views;

// Creates the views of a machine for a run of `time` seconds with rows at distances of `step` seconds. found: findings
// whose outputs are recorded; NULL: none. of: as in the struct; views of an observer have no reactions of joints. The
// machine must outlive the views. NULL: out of memory. others: number of other series of the page; all series together
// have a limited size.
od_run_views *od_run_views_new(const od_machine *machine, double time, double step, const od_findings *found,
                               const char *of, int others);
void od_run_views_free(od_run_views *v);
OD_OWNED_POINTER(od_run_views, od_run_views_free);
// Returns a watcher that records a run in the views, which must outlive the watcher.
od_run_watcher od_run_views_watcher(od_run_views *v);

// Returns frames for the outputs of the views; NULL: out of memory.
od_frames *od_run_views_frames(const od_run_views *v);

struct od_page;
// Adds the pictures and the recorded outputs to a page. at: the time that the still pictures show, s.
void od_run_views_draw(const od_run_views *v, struct od_page *page, double at);
// Adds only the recorded outputs to a page.
void od_run_views_add_series(const od_run_views *v, struct od_page *page);
// Adds charts of the recorded outputs by quantity (run_charts.c).
void od_run_views_draw_charts(const od_run_views *v, struct od_page *page);
// Returns whether charts by quantity may show the output (run_charts.c).
bool od_run_charts_show(const od_machine *machine, int output);

#endif

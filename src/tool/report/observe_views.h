// Pictures of an observer for its page: the estimated machine, moved by the estimated states, and, if it is simulated, the true
// machine.
#ifndef OD_REPORT_OBSERVE_VIEWS_H
#define OD_REPORT_OBSERVE_VIEWS_H

#include "experiment/experiment.h"
#include "experiment/sample_source.h"
#include "oleodyn/observer.h"
#include "report/run_views.h"

typedef struct od_observe_views od_observe_views;

// Creates the views of an experiment, which must outlive the views. NULL: out of memory.
od_observe_views *od_observe_views_new(const od_experiment *e);
void od_observe_views_free(od_observe_views *v);
OD_OWNED_POINTER(od_observe_views, od_observe_views_free);
// Records the estimated machine after a sample. Called by od_observe_options.each.
void od_observe_views_take(od_observe_views *v, const od_sample *sample, od_observer *observer);

// Adds the pictures and the series of both machines to a page. The true machine is simulated again.
void od_observe_views_draw(const od_observe_views *v, struct od_page *page);

#endif

// Views of a friction law alone: steady curve, sensitivities, loop under a sine, step of the speed, differences after steps,
// force for a log.
#ifndef OD_FRICTION_SHOW_FRICTION_VIEW_H
#define OD_FRICTION_SHOW_FRICTION_VIEW_H

#include "friction_show/friction_steps.h"
#include "io/picture.h"
#include "io/table.h"
#include "logs/log_settings.h"
#include "result/result.h"

enum { OD_MOST_VARIED = 8 };

typedef enum od_friction_show {
  OD_SHOW_STEADY,
  OD_SHOW_SENSITIVITY,
  OD_SHOW_HYSTERESIS,
  OD_SHOW_STEP,
  OD_SHOW_CONTOUR,
  OD_SHOW_LOG,
  OD_SHOWS,
} od_friction_show;
extern const char *const od_friction_shows[OD_SHOWS];  // "steady", ...

typedef struct od_friction_request {
  od_friction_show show;
  od_set_law law[OD_MOST_VARIED + 1];  // the law, then variants with one changed number each
  int laws;
  double speed;          // largest speed of curves, loops and contours, m/s
  double frequency;      // frequency of the sine, Hz
  double from, to, lag;  // speeds before and after the step, m/s, and lag of the step, s
  double time, step;     // duration of a step response, and time between two rows, s
  od_log_settings log;   // for OD_SHOW_LOG: see od_driven_log_read()
  const char *column;
  const char *const *factors;
  int factor_count;
} od_friction_request;

typedef struct od_friction_view {
  const od_friction_request *request;
  od_table *table;
  int panel[OD_MOST_VARIED + OD_MOST_ELEMENT_FIELDS + 8];  // columns with the same number share a chart
  char title[160], note[160];                              // the note may be empty
  od_arena arena;
  od_friction_steps *steps;  // differences of a contour; else NULL
  od_verdict warnings;
} od_friction_view;

// Creates a view. The request must outlive the view. Free the view in all cases. Fails with OD_BAD_INPUT, OD_NOT_FINITE or OD_NO_MEMORY.
od_status od_friction_view_make(const od_friction_request *request, od_friction_view *out, od_error *err);
void od_friction_view_free(od_friction_view *view);

// Returns the result of the command: the table and the warnings of the view, which must outlive the result.
od_result od_friction_view_result(const od_friction_view *view);
// Adds the curves of the table or of the contour. The view must outlive the picture.
void od_picture_add_friction(od_picture *p, const od_friction_view *view);
// Draws the table or the contour. `user` points to an od_friction_view. Fails with OD_IO or OD_NO_MEMORY.
od_status od_friction_view_write_plot(const void *user, const char *path, od_error *err);

#endif

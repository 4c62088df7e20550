#include "inverse/motion_log.h"

#include <math.h>

#include "io/wording.h"
#include "logs/log_table.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "plant/inverse.h"

void od_motion_log_free(od_motion_log *log) {
  od_arena_free(&log->arena);
  *log = (od_motion_log){0};
}

// Adds the columns whose names are names of quantities that can be prescribed. Returns false if out of memory.
static bool choose_columns(const od_machine *machine, od_whole_log *whole) {
  const od_model *m = od_machine_model(machine);
  for (int input = 0; input < od_log_inputs(whole->log); input++) {
    const od_table *head = od_log_head(whole->log, input);
    for (int c = 0; c < head->columns; c++) {
      int output = od_machine_output_find(machine, head->name[c]);
      if (output < 0 || !od_inverse_can_move(&m->output[output])) continue;
      const char *unit = od_machine_output_unit(machine, output);
      if (od_log_want_column(&whole->plan, whole->log, input, c, unit) < 0) return false;
    }
  }
  return true;
}

// Checks the columns and the number of rows. Returns false after a message.
static bool check(const od_machine *machine, const od_whole_log *whole, od_messages *messages) {
  const od_model *m = od_machine_model(machine);
  const od_log_plan *plan = &whole->plan;
  const od_place place = {.file = plan->file};
  bool ok = true;
  if (plan->channels == 0)
    od_messages_add(messages, place,
                    "no column has the name of a joint coordinate, length or point of the machine; rename a column, or "
                    "give --map NAME=COLUMN");
  for (int i = 0; i < plan->channels; i++) {
    int output = od_machine_output_find(machine, plan->channel[i].name);
    if (output >= 0 && od_inverse_can_move(&m->output[output])) continue;
    od_messages_add(messages, plan->channel[i].place,
                    "'%s' is not a position; joint coordinates, lengths, points and angles of bodies can be prescribed",
                    plan->channel[i].name);
    ok = false;
  }
  return ok && plan->channels > 0;
}

// Copies times and values. Fails with OD_NO_MEMORY.
static od_status take_rows(const od_machine *machine, const od_whole_log *whole, od_motion_log *log) {
  const od_table *t = whole->table;
  log->columns = whole->plan.channels;
  log->rows = t->rows;
  log->output = OD_TAKE(&log->arena, int, log->columns);
  log->t = OD_TAKE(&log->arena, double, t->rows);
  log->value = OD_TAKE_MATRIX(&log->arena, double, t->rows, log->columns);
  if (od_arena_status(&log->arena) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < log->columns; i++) log->output[i] = od_machine_output_find(machine, whole->plan.channel[i].name);
  for (long k = 0; k < t->rows; k++) {
    const double *row = t->data + k * t->columns;
    log->t[k] = row[0];
    for (int i = 0; i < log->columns; i++) log->value[k * log->columns + i] = row[1 + i];
  }
  return OD_OK;
}

od_status od_motion_log_read(const od_machine *machine, const od_log_settings *settings, od_motion_log *log,
                             od_messages *messages) {
  OD_SCOPED(od_whole_log_free) od_whole_log whole = {0};
  *log = (od_motion_log){0};
  if (settings->data.count == 0) return OD_OK;
  od_status status = od_whole_log_open(settings, machine, &whole, messages);
  if (status == OD_OK && !choose_columns(machine, &whole)) status = OD_NO_MEMORY;
  if (status == OD_OK && !check(machine, &whole, messages)) status = OD_BAD_INPUT;
  if (status == OD_OK) status = od_whole_log_load(&whole, messages);
  if (status == OD_OK && !od_whole_log_is_complete(&whole, messages)) status = OD_BAD_INPUT;
  if (status == OD_OK && whole.table->rows < 3) {
    od_messages_add(messages, (od_place){.file = whole.plan.file}, "found %s, expected at least three rows",
                    od_count(whole.table->rows, "row").text);
    status = OD_BAD_INPUT;
  }
  if (status == OD_OK) status = take_rows(machine, &whole, log);
  log->times = whole.times;
  return status;
}

od_status od_motion_log_trajectory(const od_motion_log *log, int column, double low_pass, od_trajectory *out) {
  OD_SCRATCH(scratch);
  double *samples = OD_TAKE(&scratch, double, log->rows);
  *out = (od_trajectory){0};
  if (!samples) return OD_NO_MEMORY;
  for (long k = 0; k < log->rows; k++) samples[k] = log->value[k * log->columns + column];
  return od_trajectory_of_samples(log->t, samples, log->rows, low_pass, out);
}

double od_motion_log_nyquist(const od_motion_log *log) {
  return (double)(log->rows - 1) / (log->t[log->rows - 1] - log->t[0]) / 2;
}

// A loaded experiment: makes its plants, computes the covariance of its sensors, and frees it.
#include "experiment/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "document/document.h"
#include "machine/machine.h"
#include "oleodyn/plant.h"

void od_experiment_free(od_experiment *e) {
  if (!e) return;
  od_machine_free(e->truth);
  od_machine_free(e->model);
  od_document_free(e->file);
  od_log_free(e->log);
  od_log_plan_free(&e->data);
  od_arena_free(&e->memory);
  free(e);
}

void od_experiment_sensor_covariance(const od_experiment *e, double *R) {
  memset(R, 0, (size_t)(e->outputs * e->outputs) * sizeof *R);
  for (int i = 0; i < e->outputs; i++) R[i * (e->outputs + 1)] = 1;
  for (int i = 0; i < e->sensors; i++) {
    memcpy(R + i * e->outputs, e->sensor_covariance + i * e->sensors, (size_t)e->sensors * sizeof *R);
    R[i * (e->outputs + 1)] += e->sensor[i].resolution * e->sensor[i].resolution / 12;
  }
}

// Makes the plant of the true machine or of the model, with sensor models for calibrated sensors.
static od_status make_plant(const od_experiment *e, bool truth, od_plant **out, od_error *err) {
  OD_SCRATCH(scratch);
  int *outputs = OD_TAKE(&scratch, int, e->outputs), *number = OD_TAKE(&scratch, int, e->parameters);
  od_calibration *calibration = OD_TAKE(&scratch, od_calibration, e->parameters);
  int numbers = 0, calibrations = 0;
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < e->watches; i++) {
    const od_watched *w = &e->watched[i];
    outputs[i] = outputs[w->row] = !truth ? w->model_output : w->truth_output >= 0 ? w->truth_output : 0;
  }
  for (int i = 0; i < e->parameters; i++) {
    const od_estimated *p = &e->parameter[i];
    if (p->sensor < 0)
      number[numbers++] = truth ? od_machine_number_find(e->truth, p->path) : p->number;
    else
      calibration[calibrations++] = (od_calibration){p->sensor, p->is_scale ? OD_CALIBRATE_SCALE : OD_CALIBRATE_BIAS};
  }
  od_plant *inner = NULL;
  od_status status = od_machine_plant(truth ? e->truth : e->model, outputs, e->outputs, number, numbers, &inner, err);
  *out = inner;
  if (status != OD_OK || calibrations == 0) return status;
  status = od_plant_calibrated(inner, calibration, calibrations, out, err);
  if (status != OD_OK) od_plant_free(inner);
  return status;
}

od_status od_experiment_plant(const od_experiment *e, od_plant **out, od_error *err) {
  return make_plant(e, false, out, err);
}
od_status od_experiment_true_plant(const od_experiment *e, od_plant **out, od_error *err) {
  return make_plant(e, true, out, err);
}

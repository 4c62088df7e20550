// A loaded experiment: its plants, the covariance of its sensors, and its release.
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
  free(e->sensor);
  free(e->watched);
  for (int i = 0; i < e->metrics; i++) free(e->metric[i].output);
  free(e->metric);
  free(e->parameter);
  free(e->covariance);
  free(e->sensor_covariance);
  free(e->process_noise);
  od_output_covariance_free(&e->initial);
  od_output_covariance_free(&e->process);
  od_output_covariance_free(&e->truth_noise.process);
  free(e->channel);
  od_log_free(e->log);
  od_log_plan_free(&e->data);
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

// Makes the plant of a machine, with sensor models for calibrated sensors.
static od_status make_plant(const od_experiment *e, bool truth, od_plant **out, od_error *err) {
  size_t parameters = (size_t)e->parameters;
  int *outputs = calloc((size_t)e->outputs + parameters + 1, sizeof *outputs), numbers = 0, calibrations = 0;
  od_calibration *calibration = calloc(parameters + 1, sizeof *calibration);
  od_status status = outputs && calibration ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  int *number = outputs + e->outputs;
  for (int i = 0; status == OD_OK && i < e->watches; i++)
    outputs[i] = outputs[e->watched[i].row] = !truth                            ? e->watched[i].model_output
                                              : e->watched[i].truth_output >= 0 ? e->watched[i].truth_output
                                                                                : 0;
  for (int i = 0; status == OD_OK && i < e->parameters; i++) {
    const od_estimated *p = &e->parameter[i];
    if (p->sensor < 0)
      number[numbers++] = truth ? od_machine_number_find(e->truth, p->path) : p->number;
    else
      calibration[calibrations++] = (od_calibration){p->sensor, p->is_scale ? OD_CALIBRATE_SCALE : OD_CALIBRATE_BIAS};
  }
  od_plant *inner = NULL;
  if (status == OD_OK)
    status = od_machine_plant(truth ? e->truth : e->model, outputs, e->outputs, number, numbers, &inner, err);
  *out = inner;
  if (status == OD_OK && calibrations) {
    status = od_plant_calibrated(inner, calibration, calibrations, out, err);
    if (status != OD_OK) od_plant_free(inner);
  }
  free(outputs);
  free(calibration);
  return status;
}

od_status od_experiment_plant(const od_experiment *e, od_plant **out, od_error *err) {
  return make_plant(e, false, out, err);
}
od_status od_experiment_true_plant(const od_experiment *e, od_plant **out, od_error *err) {
  return make_plant(e, true, out, err);
}

// The description of the @kind@, and the functions of @name@.h. Written by oleodyn @version@.
#include "@name@.h"

#include <math.h>

#include "oleodyn/embedded.h"

extern const od_model @name@_model;
extern const od_integrator od_integrator_@integrator@;
%observer extern const od_filter od_filter_@filter@;

@chosen@
%observer 
%observer @observer@
%observer 
%observer static const od_embedded_observer observer = {
%observer     .filter = &od_filter_@filter@,
%observer     .choice = choice,
%observer     .form = @form@,
%observer     .gate = @gate@,
%observer     .patience = @patience@,
%observer     .sensors = @NAME@_SENSORS,
%observer     .low = sensor_low,
%observer     .high = sensor_high,
%observer     .sigma = sensor_sigma,
%correlated     .covariance = sensor_covariance,
%observer     .frozen = frozen,
%observer     .least = least,
%observer     .most = most,
%observer     .start = start,
%observer     .P = initial_covariance,
%observer     .Q = process_noise,
%observer     .given = @given@,
%observer     .given_output = given_output,
%observer     .given_covariance = given_covariance,
%observer };

static const od_embedded description = {
    .model = &@name@_model,
    .output = output,
    .outputs = @NAME@_OUTPUTS,
    .number = number,
    .numbers = @numbers@,
%calibrated     .calibration = calibration,
%calibrated     .calibrations = @calibrations@,
    .integrator = &od_integrator_@integrator@,
    .period = @period_bits@,
%observer     .observer = &observer,
};

@name@_run *@name@_init(void *memory, size_t size) {
  od_embedded_run *it = NULL;
  return od_embedded_init(&description, memory, size, &it) == OD_OK ? it : NULL;
}

%simulation int @name@_step(@name@_run *it, const double *u) {
%simulation   return (int)od_embedded_step(it, u, NULL);
%simulation }
%observer int @name@_step(@name@_run *it, const double *u, const double *y) {
%observer   return (int)od_embedded_step(it, u, y);
%observer }

void @name@_restart(@name@_run *it) {
  od_embedded_restart(it);
}

%simulation int @name@_outputs(@name@_run *it, double *y) {
%simulation   return (int)od_embedded_outputs(it, y, NULL);
%simulation }
%observer int @name@_outputs(@name@_run *it, double *estimate, double *sigma) {
%observer   return (int)od_embedded_outputs(it, estimate, sigma);
%observer }
%settable 
%settable int @name@_set_parameters(@name@_run *it, const double *p) {
%settable   return (int)od_embedded_set_parameters(it, p);
%settable }
%estimated 
%estimated void @name@_parameters(@name@_run *it, double *p, double *sigma) {
%estimated   od_embedded_parameters(it, p, sigma);
%estimated }
%observer 
%observer double @name@_nis(const @name@_run *it, int *sensors) {
%observer   return od_embedded_nis(it, sensors);
%observer }

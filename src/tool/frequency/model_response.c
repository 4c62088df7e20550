// The frequency response of a model at one point of a simulation, as the room `linear` finds it.
#include <stdlib.h>

#include "frequency/frequency_response.h"
#include "linear/response.h"

// The linear model of one input, without names.
static od_status linearise(const od_plant *plant, od_sim *sim, int input, od_linear_model *m, od_error *err) {
  size_t n = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu, ny = (size_t)plant->ny;
  double *B = calloc(n * nu + 1, sizeof *B), *D = calloc(ny * nu + 1, sizeof *D);
  *m = (od_linear_model){.states = (int)n,
                         .inputs = 1,
                         .outputs = plant->ny,
                         .A = calloc(n * n + 1, sizeof *m->A),
                         .B = calloc(n + 1, sizeof *m->B),
                         .C = calloc(ny * n + 1, sizeof *m->C),
                         .D = calloc(ny + 1, sizeof *m->D)};
  bool memory = B && D && m->A && m->B && m->C && m->D;
  od_status status = memory ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (memory) status = od_sim_derivatives(sim, NULL, m->A, B, NULL);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, m->C, D, NULL);
  if (memory && status != OD_OK)
    od_fail(err, status, "the machine cannot be linearised where it starts: %s", od_status_text(status));
  for (size_t i = 0; i < n && status == OD_OK; i++) m->B[i] = B[i * nu + (size_t)input];
  for (size_t k = 0; k < ny && status == OD_OK; k++) m->D[k] = D[k * nu + (size_t)input];
  free(B);
  free(D);
  return status;
}

static od_status respond(od_linear_response *response, const double *frequency, int points, od_complex *G, od_frf *f,
                         od_error *err) {
  for (int i = 0; i < points; i++) {
    f->frequency[i] = frequency[i];
    if (od_linear_response_at(response, frequency[i], G) != OD_OK)
      return od_fail(err, OD_BAD_INPUT, "the machine has a pole at %g Hz, where its response is infinite",
                     frequency[i]);
    for (int k = 0; k < f->outputs; k++) {
      f->value[k * points + i] = G[k];
      f->sigma[k * points + i] = 0;
    }
  }
  return OD_OK;
}

od_status od_frf_of_plant(const od_plant *plant, od_sim *sim, int input, const double *frequency, int points,
                          od_frf **out, od_error *err) {
  od_linear_model m;
  od_status status = linearise(plant, sim, input, &m, err);
  od_linear_response *response = status == OD_OK ? od_linear_response_new(&m) : NULL;
  od_frf *f = od_frf_new(points, plant->ny);
  od_complex *G = calloc((size_t)plant->ny + 1, sizeof *G);
  if (status == OD_OK && (!response || !f || !G)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK) status = respond(response, frequency, points, G, f, err);
  od_linear_response_free(response);
  double *memory[] = {m.A, m.B, m.C, m.D};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  free(G);
  *out = status == OD_OK ? f : NULL;
  if (status != OD_OK) od_frf_free(f);
  return status;
}

// The frequency response of a linear model, from the module `linear`.
#include <stdlib.h>

#include "frequency/frequency_response.h"
#include "linear/response.h"

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

od_status od_frf_of_model(const od_linear_model *m, const double *frequency, int points, od_frf **out, od_error *err) {
  od_linear_response *response = od_linear_response_new(m);
  od_frf *f = od_frf_new(points, m->outputs);
  od_complex *G = calloc((size_t)m->outputs + 1, sizeof *G);
  od_status status = response && f && G ? respond(response, frequency, points, G, f, err)
                                        : od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_linear_response_free(response);
  free(G);
  *out = status == OD_OK ? f : NULL;
  if (status != OD_OK) od_frf_free(f);
  return status;
}

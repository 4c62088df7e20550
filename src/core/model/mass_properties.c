// Mass properties of bodies in real numbers, for descriptions of a machine.
#include "base/scalar_x.h"
#include "model/model.h"
#include "model/body_inertia_x.h"

void od_model_body_inertia(const od_model *m, int body, double *mass, double center[3], double inertia[6]) {
  body_inertia(&m->body[body], m->theta, mass, center, inertia);
}

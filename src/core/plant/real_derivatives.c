// Derivatives in builds without complex numbers (OD_WITHOUT=complex). Such builds have tangents of the mechanism, and
// the derivatives that classes of elements and blocks define. This file determines whether a plant needs other
// derivatives.
#include "plant/real_derivatives.h"

#define NEEDS_COMPLEX "this build does not contain complex numbers (OD_WITHOUT=complex)"

// Returns whether the derivative with respect to a number of the circuit needs complex steps.
static bool number_needs_complex(const od_model *m, const od_circuit_number *n) {
  if (n->owner == OD_OWNER_NODE) return false;
  if (n->owner == OD_OWNER_OIL) return n->place < OD_OIL_LAW || n->place >= OD_OIL_VISCOSITY;  // not the bulk modulus
  if (n->owner != OD_OWNER_ELEMENT) return true;
  for (int i = n->index; i < n->index + n->place; i++)
    if (!od_instance_class(m, &m->instance[m->join.user[i].instance])->number_slopes) return true;
  return false;
}

bool od_output_needs_complex(const od_output *o) {
  return o->kind == OD_OUT_REPORT || od_model_output_is_reaction(o) || od_output_stored_share(o) != 0;
}

od_status od_model_plant_check_real(const od_plant_data *d, od_error *err) {
  const od_model *m = d->m;
  for (int i = 0; i < m->measures; i++)
    if (od_output_needs_complex(&m->measure[i]))
      return od_fail(
          err, OD_NOT_AVAILABLE,
          "a block measures a reaction, a loss or an energy, whose derivatives need complex numbers; " NEEDS_COMPLEX);
  if (m->join.reservoir >= 0)
    return od_fail(err, OD_NOT_AVAILABLE, "derivatives of the oil's temperature need complex numbers; " NEEDS_COMPLEX);
  if (d->plant.jumps)
    return od_fail(err, OD_NOT_AVAILABLE, "derivatives of laws with jumps need complex numbers; " NEEDS_COMPLEX);
  for (int j = 0; j < d->plant.np; j++)
    if (number_needs_complex(m, &d->owner[j]))
      return od_fail(err, OD_NOT_AVAILABLE,
                     "derivatives with respect to number %d ('%s') need complex numbers; " NEEDS_COMPLEX,
                     d->parameter[j], od_number_path(m, d->parameter[j]));
  return OD_OK;
}

bool od_model_plant_observes_in_complex(const od_plant_data *d) {
  od_error ignored = {0};
  if (od_model_plant_check_real(d, &ignored) != OD_OK) return true;
  for (int i = 0; i < d->plant.ny; i++) {
    const od_output *o = &d->m->output[d->output[i]];
    if (od_output_needs_complex(o) || (d->plant.np > 0 && !od_model_output_sees_states_only(d->m, o))) return true;
  }
  return false;
}

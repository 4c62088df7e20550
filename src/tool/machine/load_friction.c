// Friction in cylinders and joints.
#include <math.h>

#include "machine/load_circuit.h"

enum { COULOMB, STATIC, SPEED, VISCOUS, FIELDS };

static const od_field turning_fields[FIELDS] = {
    [COULOMB] = {"Fc", "N m", OD_NOT_NEGATIVE, NAN},
    [STATIC] = {"Fs", "N m", OD_NOT_NEGATIVE, NAN},
    [SPEED] = {"vs", "rad/s", OD_POSITIVE, NAN},
    [VISCOUS] = {"viscous", "N m s/rad", OD_NOT_NEGATIVE, 0},
};
static const od_field sliding_fields[FIELDS] = {
    [COULOMB] = {"Fc", "N", OD_NOT_NEGATIVE, NAN},
    [STATIC] = {"Fs", "N", OD_NOT_NEGATIVE, NAN},
    [SPEED] = {"vs", "m/s", OD_POSITIVE, NAN},
    [VISCOUS] = {"viscous", "N s/m", OD_NOT_NEGATIVE, 0},
};

// The static friction, or for Coulomb's law, which has none, a number without a path of the user's to fill its place.
static void read_static(od_loader *ld, const od_section *section, const od_field *field, int law, int coulomb) {
  int node = od_section_get(ld, section, field->key);
  if (law != OD_FRICTION_COULOMB) {
    int before = od_messages_errors(ld->messages);
    int number = od_read_fields(ld, section, field, 1, OD_IN_MODEL);
    bool sound = od_messages_errors(ld->messages) == before && od_number_is_given(ld, number);
    if (sound && od_number_value(ld, number) < od_number_value(ld, coulomb))
      od_complain_number(ld, number, "static friction Fs must not be less than Coulomb friction Fc");
    return;
  }
  if (node >= 0) od_complain(ld, node, "friction of the law 'coulomb' has no '%s'", field->key);
  od_build_number(ld->draft->build, od_path(ld, section->path, field->key), od_number_value(ld, coulomb), field->unit);
}

void od_load_friction(od_loader *ld, const od_section *owner, int cylinder, int joint, bool turning) {
  static const char *const keys[] = {"law", "Fc", "Fs", "vs", "viscous", NULL};
  static const char *const laws[] = {"coulomb", "brown-mcphee", NULL};  // in the builder's order
  int node = od_section_get(ld, owner, "friction");
  if (node < 0) return;
  const od_field *field = turning ? turning_fields : sliding_fields;
  const char *what = od_format(ld, "the friction of %s", owner->what);
  od_section section = od_section_open(ld, node, owner->node, od_path(ld, owner->path, "friction"), what, keys);
  int law = od_read_choice(ld, od_section_need(ld, &section, "law"), "law", laws);
  int first = od_read_fields(ld, &section, &field[COULOMB], 1, OD_IN_MODEL);
  if (law >= 0) read_static(ld, &section, &field[STATIC], law, first);
  od_read_fields(ld, &section, &field[SPEED], 2, OD_IN_MODEL);
  if (law < 0 || section.map < 0 || cylinder == OD_NOT_BUILT || joint == OD_NOT_BUILT) return;
  od_build_friction(ld->draft->build, (od_friction_law)law, cylinder, joint, od_number_theta(ld, first));
}

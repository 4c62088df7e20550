// The factor of a law, in the scalar of the build. At least a millionth, so that it never turns a law upside down.
#define OD_FRICTION_LEAST_FACTOR 1e-6
static inline od_x X(least_factor)(od_x factor) {
  return OD_SELECT(RE(factor) > OD_FRICTION_LEAST_FACTOR, factor, OD_FRICTION_LEAST_FACTOR);
}

// Returns the factor of a law, limited from below so that the force always opposes the motion.
#define OD_FRICTION_LEAST_FACTOR 1e-6
static inline od_x X(least_factor)(od_x factor) {
  return OD_SELECT(RE(factor) > OD_FRICTION_LEAST_FACTOR, factor, OD_FRICTION_LEAST_FACTOR);
}

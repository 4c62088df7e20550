// The parameters of one direction of a driven law and constants that follow from them, in the scalar of the build.
typedef struct X(driven_direction) {
  X(family) f;
  od_x log_vs, complete_film, film_gain,
      least_level;  // hss = complete_film * min(film_gain |v|^(2/3), 1)
} X(driven_direction);

// Fills *s from the numbers q of a law. signal multiplies the factor or the load.
static inline void X(driven_direction_of)(const od_friction_law *law, const od_x *q, bool two_sided, bool negative,
                                          od_x signal, X(driven_direction) * s) {
  law->X(family)(q, two_sided, negative, signal, (od_x *)&s->f);
  s->log_vs = od_x_log(s->f.vs);
  s->complete_film = OD_SELECT(RE(s->f.Fs) > RE(s->f.Fc), 1 - s->f.Fc / s->f.Fs, 0);
  s->film_gain = od_x_exp(-(s->log_vs + s->f.log_vb_vs) * (2.0 / 3));
  s->least_level = OD_FRICTION_LEAST_LEVEL * (s->f.Fs + s->f.Fc);
}

// The parameters of friction laws. Each parameter has one definition: the arguments of a macro M, which expands to a row of a table
// of elements or blocks. The arguments: key, unit, unit in a revolute joint, sign, default, possible range, usual range, both
// ranges in a revolute joint, meaning, whether the parameter may be a signal.
#ifndef OD_FRICTION_PARAMETERS_H
#define OD_FRICTION_PARAMETERS_H

#define OD_PARAMETER_FC(M) \
  M("Fc", "N", "N m", OD_NOT_NEGATIVE, NAN, 0, 1e9, 0, 1e6, 0, 1e9, 0, 1e6, "Coulomb friction", false)
#define OD_PARAMETER_FS(M) \
  M("Fs", "N", "N m", OD_NOT_NEGATIVE, NAN, 0, 1e9, 0, 1e6, 0, 1e9, 0, 1e6, "static friction", false)
#define OD_PARAMETER_BREAKAWAY(M) \
  M("Fs", "N", "N m", OD_POSITIVE, NAN, 1e-9, 1e9, 1e-3, 1e6, 1e-9, 1e9, 1e-3, 1e6, "static friction", false)
#define OD_PARAMETER_TRANSITION(M)                                                      \
  M("vs", "m/s", "rad/s", OD_POSITIVE, NAN, 1e-12, 1e3, 1e-6, 1, 1e-12, 1e6, 1e-6, 100, \
    "transition speed of friction", false)
#define OD_PARAMETER_VS(M)                                                              \
  M("vs", "m/s", "rad/s", OD_POSITIVE, NAN, 1e-12, 1e3, 1e-6, 1, 1e-12, 1e6, 1e-6, 100, \
    "Stribeck speed, at which most of the static friction has decayed", false)
#define OD_PARAMETER_N(M) \
  M("n", "1", NULL, OD_POSITIVE, NAN, 0.05, 10, 0.3, 3, 0, 0, 0, 0, "exponent of the Stribeck curve", false)
#define OD_PARAMETER_VISCOUS(M)                                                            \
  M("viscous", "N s/m", "N m s/rad", OD_NOT_NEGATIVE, 0, 0, 1e13, 0, 1e8, 0, 1e14, 0, 1e9, \
    "coefficient of viscous friction, sigma_2", false)
#define OD_PARAMETER_VB(M)                                                    \
  M("vb", "m/s", "rad/s", OD_NOT_NEGATIVE, 0, 0, 1e9, 0, 1e9, 0, 1e9, 0, 1e9, \
    "speed at which the lubricant film is complete; 0: computed from `vs` and `n`", false)
#define OD_PARAMETER_V0(M)                                                               \
  M("v0", "m/s", "rad/s", OD_POSITIVE, 1e-4, 1e-12, 1e3, 1e-9, 1, 1e-12, 1e6, 1e-9, 100, \
    "speed scale of the smooth sign change of friction, tanh(v/v0)", false)
#define OD_PARAMETER_SIGMA_0(M)                                                              \
  M("sigma_0", "N/m", "N m/rad", OD_POSITIVE, NAN, 1e-3, 1e15, 1, 1e10, 1e-3, 1e15, 1, 1e10, \
    "stiffness of the bristles", false)
#define OD_PARAMETER_SIGMA_1(M)                                                                                       \
  M("sigma_1", "N s/m", "N m s/rad", OD_NOT_NEGATIVE, 0, 0, 1e12, 0, 1e7, 0, 1e12, 0, 1e7, "damping of the bristles", \
    false)
#define OD_PARAMETER_TAU_HP(M) \
  M("tau_hp", "s", NULL, OD_POSITIVE, NAN, 1e-6, 1e6, 1e-3, 100, 0, 0, 0, 0, "time constant of a growing film", false)
#define OD_PARAMETER_TAU_HN(M) \
  M("tau_hn", "s", NULL, OD_POSITIVE, NAN, 1e-6, 1e6, 1e-3, 100, 0, 0, 0, 0, "time constant of a shrinking film", false)
#define OD_PARAMETER_TAU_H0(M) \
  M("tau_h0", "s", NULL, OD_POSITIVE, 30, 1e-6, 1e9, 1e-3, 1e4, 0, 0, 0, 0, "time constant of the film at rest", false)
#define OD_PARAMETER_INERTIA(M)                                                   \
  M("inertia", "kg", "kg m2", OD_NOT_NEGATIVE, 0, 0, 1e9, 0, 1e5, 0, 1e9, 0, 1e5, \
    "inertia term: friction per acceleration, sigma_2 T", false)
#define OD_PARAMETER_LAG(M)                                               \
  M("lag", "s", NULL, OD_POSITIVE, 1e-3, 1e-7, 10, 1e-5, 0.1, 0, 0, 0, 0, \
    "time constant of the lag of the acceleration in the inertia term", false)
#define OD_PARAMETER_FILM_FORCE(M)                                                       \
  M("film_force", "N s", "N m s", OD_ANY, 0, -1e9, 1e9, -1e6, 1e6, -1e9, 1e9, -1e6, 1e6, \
    "friction force per rate of change of the film", false)
#define OD_PARAMETER_LOAD(M) \
  M("load", "N", NULL, OD_ANY, 0, -1e9, 1e9, -1e7, 1e7, 0, 0, 0, 0, "load that changes `Fs` and `Fc`", true)
#define OD_PARAMETER_LOAD_0(M)                                                                                      \
  M("load_0", "N", NULL, OD_POSITIVE, 1, 1e-6, 1e9, 1e-3, 1e7, 0, 0, 0, 0, "load at which `Fs` and `Fc` are valid", \
    false)
#define OD_PARAMETER_LOAD_FS(M)                                                   \
  M("load_Fs", "N", "N m", OD_ANY, 0, -1e9, 1e9, -1e6, 1e6, -1e9, 1e9, -1e6, 1e6, \
    "increase of `Fs` per unit of `load`/`load_0` - 1", false)
#define OD_PARAMETER_LOAD_FC(M)                                                   \
  M("load_Fc", "N", "N m", OD_ANY, 0, -1e9, 1e9, -1e6, 1e6, -1e9, 1e9, -1e6, 1e6, \
    "increase of `Fc` per unit of `load`/`load_0` - 1", false)

// The factor, which may be a signal, and the exponents with which the factor scales other parameters. These rows follow
// all other parameters.
#define OD_PARAMETER_FACTOR(M)                                             \
  M("factor", "1", NULL, OD_POSITIVE, 1, 1e-6, 1e6, 1e-3, 1e3, 0, 0, 0, 0, \
    "factor on other parameters, for a dependence on pressure, position or temperature", true)
#define OD_PARAMETER_FACTOR_FS(M) \
  M("factor_Fs", "1", NULL, OD_ANY, 1, -10, 10, -2, 2, 0, 0, 0, 0, "exponent of the factor that multiplies `Fs`", false)
#define OD_PARAMETER_FACTOR_FC(M) \
  M("factor_Fc", "1", NULL, OD_ANY, 1, -10, 10, -2, 2, 0, 0, 0, 0, "exponent of the factor that multiplies `Fc`", false)
#define OD_PARAMETER_FACTOR_VS(M)                                  \
  M("factor_vs", "1", NULL, OD_ANY, 0, -10, 10, -2, 2, 0, 0, 0, 0, \
    "exponent of the factor that multiplies `vs` and `vb`", false)
#define OD_PARAMETER_FACTOR_VISCOUS(M)                                  \
  M("factor_viscous", "1", NULL, OD_ANY, 0, -10, 10, -2, 2, 0, 0, 0, 0, \
    "exponent of the factor that multiplies `viscous`", false)
// For a law with viscous friction alone: the default exponent is 1.
#define OD_PARAMETER_FACTOR_VISCOUS_ALONE(M)                            \
  M("factor_viscous", "1", NULL, OD_ANY, 1, -10, 10, -2, 2, 0, 0, 0, 0, \
    "exponent of the factor that multiplies `viscous`", false)
#define OD_PARAMETER_FACTOR_TAU(M)                                  \
  M("factor_tau", "1", NULL, OD_ANY, 0, -10, 10, -2, 2, 0, 0, 0, 0, \
    "exponent of the factor that multiplies the time constants", false)
#define OD_PARAMETERS_OF_FACTOR(M) \
  OD_PARAMETER_FACTOR(M)           \
  OD_PARAMETER_FACTOR_FS(M)        \
  OD_PARAMETER_FACTOR_FC(M) OD_PARAMETER_FACTOR_VS(M) OD_PARAMETER_FACTOR_VISCOUS(M) OD_PARAMETER_FACTOR_TAU(M)

#endif

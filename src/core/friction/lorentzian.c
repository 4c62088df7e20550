// Lorentzian: S = 1/(1 + (v/vs)^2), with a film that follows the speed.
#define OD_STRIBECK_N(q)         2
#define OD_STRIBECK_LOG_VB_VS(q) X(log_vb_vs_lorentzian)(q->vb, q->vs, 2, 0.06)
#define OD_LAW_SHAPE             OD_STRIBECK_LORENTZIAN
#define OD_ELEMENT_FILE          "friction/lorentzian.c"
#include "friction/steady_stribeck_x.h"

#ifndef OD_ELEMENT_TEXT
OD_FRICTION_LAW(lorentzian, "lorentzian", "steady friction with a Lorentzian Stribeck curve");
#endif

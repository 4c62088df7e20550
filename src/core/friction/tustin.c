// Tustin: S = exp(-|v|/vs), with a film that follows the speed.
#define OD_STRIBECK_N(q)         1
#define OD_STRIBECK_LOG_VB_VS(q) X(log_vb_vs_exponential)(q->vb, q->vs, 1)
#define OD_LAW_SHAPE             OD_STRIBECK_EXPONENTIAL
#define OD_ELEMENT_FILE          "friction/tustin.c"
#include "friction/steady_stribeck_x.h"

#ifndef OD_ELEMENT_TEXT
OD_FRICTION_LAW(tustin, "tustin", "steady friction with an exponential Stribeck curve");
#endif

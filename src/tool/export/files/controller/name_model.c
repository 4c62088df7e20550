// The compiled machine as constant tables. Written by oleodyn @version@.
#include <math.h>

#include "model/model.h"

extern const od_model @name@_model;

@model@

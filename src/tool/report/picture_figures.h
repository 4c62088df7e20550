// Adds a picture (io/picture.h) to the page of a result.
#ifndef OD_REPORT_PICTURE_FIGURES_H
#define OD_REPORT_PICTURE_FIGURES_H

#include "io/picture.h"
#include "result/result.h"

// Adds a section with a figure for each panel, for pages only. A picture without panels adds nothing. The picture must outlive the
// result.
void od_result_add_picture(od_result *r, const char *section, const od_picture *picture);

#endif

// A survey as a result and as a picture.
#ifndef OD_SURVEY_SURVEY_RESULT_H
#define OD_SURVEY_SURVEY_RESULT_H

#include "io/picture.h"
#include "result/result.h"
#include "survey/log_survey.h"

// Adds facts about the file, the tables of groups and channels, and the remarks.
void od_log_survey_show(const od_log_survey *s, const od_survey_remarks *remarks, od_result *r);
// Adds a panel for each channel: its least and greatest values over time, with marks at spikes and stuck stretches. At most `most` channels
// are drawn. Returns the number of channels that are not drawn. The picture owns all numbers.
int od_picture_add_survey(od_picture *p, const od_log_survey *s, int most);

#endif

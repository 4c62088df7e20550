// A survey as a result and as a picture.
#ifndef OD_SURVEY_SURVEY_RESULT_H
#define OD_SURVEY_SURVEY_RESULT_H

#include "io/picture.h"
#include "result/result.h"
#include "survey/log_survey.h"

// Adds facts about the file, the tables of groups and channels, and the remarks.
void od_log_survey_show(const od_log_survey *s, const od_survey_remarks *remarks, od_result *r);
// Adds a panel for each channel: its least and greatest values over time, with marks at spikes, stuck stretches and saturation. Channels with fewer
// than two values are left out. At most `most` channels are drawn; returns the number of further channels. The picture owns all numbers.
int od_picture_add_survey(od_picture *p, const od_log_survey *s, int most);

#endif

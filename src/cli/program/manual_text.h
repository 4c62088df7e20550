// The parts of the manual page that are not generated from tables of options.
#ifndef OD_OUTPUT_MANUAL_TEXT_H
#define OD_OUTPUT_MANUAL_TEXT_H

extern const char od_manual_begin[], od_manual_end[];

#endif

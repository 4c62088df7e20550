// Valid MATLAB names for columns: "crank.end.x" becomes "crank_end_x".
#ifndef OD_IO_MAT_NAME_H
#define OD_IO_MAT_NAME_H

enum { OD_MAT_NAME_SIZE = 64 };  // a MATLAB name has at most 63 characters

// The header text of all MATLAB files of this program.
#define OD_MAT_WRITTEN "written by oleodyn"

void od_mat_name(char to[OD_MAT_NAME_SIZE], const char *from);

#endif

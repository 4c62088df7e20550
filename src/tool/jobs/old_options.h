// Earlier names of options. An earlier name is accepted with a warning that gives the present name.
#ifndef OD_JOBS_OLD_OPTIONS_H
#define OD_JOBS_OLD_OPTIONS_H

// Returns the present name of an option of a kind of job, for an earlier name; NULL: the name is not an earlier name.
const char *od_old_option(const char *kind, const char *name);

#endif

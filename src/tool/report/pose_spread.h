// The spread of the positions of an estimated machine: how far its bodies move within the uncertainty of the estimated state.
//
// The covariance P of the positions gives the covariance S of all poses. The page shows the machine at both ends of the 95 % interval
// along the principal direction of S. In a machine with one degree of freedom these are the 95 % intervals of all its points.
#ifndef OD_REPORT_POSE_SPREAD_H
#define OD_REPORT_POSE_SPREAD_H

#include "memory/scoped.h"
#include "oleodyn/machine.h"
#include "oleodyn/observer.h"

typedef struct od_pose_spread od_pose_spread;

// Creates the record for the given outputs that are components of poses, with at most `most` frames at this interval in
// s. size: the machine's size in m, which makes rotations comparable with displacements. The machine must outlive the
// record. NULL: out of memory.
od_pose_spread *od_pose_spread_new(const od_machine *machine, const int *output, int outputs, double interval,
                                   long most, double size);
void od_pose_spread_free(od_pose_spread *s);
OD_OWNED_POINTER(od_pose_spread, od_pose_spread_free);
// Records the spread of the estimate at time t, if a frame is due. The observer does not change. An estimate whose spread cannot be
// computed has no spread. Fails only with OD_NO_MEMORY.
od_status od_pose_spread_take(od_pose_spread *s, double t, od_observer *observer);
// Returns the displacements of the poses in the last frame, in the order of their outputs: m, and 1 for quaternions.
const double *od_pose_spread_last(const od_pose_spread *s);

struct od_page;
// Adds the displacements to a page: series of the machine "spread" with the names of the poses.
void od_pose_spread_add_series(od_pose_spread *s, struct od_page *page);

#endif

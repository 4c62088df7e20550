// True motions shared by the runs of a study. If the true machine does not depend on the seed, the first run simulates its
// motion. All other runs with the same true machine, in any case of the study, use this motion.
#ifndef OD_STUDY_SHARED_TRUTH_H
#define OD_STUDY_SHARED_TRUTH_H

#include "experiment/true_motion.h"
#include "identify/fit.h"

// All motions of a study. At most OD_MOST_SHARED_BYTES of samples are stored. Beyond this limit each run simulates its own
// motion.
typedef struct od_shared_truths od_shared_truths;
#define OD_MOST_SHARED_BYTES 256e6
od_shared_truths *od_shared_truths_new(double most_bytes);
void od_shared_truths_free(od_shared_truths *all);

// Returns the entry for the motion of this experiment. The motion is not simulated yet. The experiment must outlive the entry.
// NULL: the motion is not shared. Reasons: the motion depends on the seed, there is no true machine, the limit of memory would be
// exceeded, or an allocation fails.
typedef struct od_shared_truth od_shared_truth;
od_shared_truth *od_shared_truths_find(od_shared_truths *all, const od_experiment *e);

// Sets *out to the motion, which `s` owns. May be called from any thread. Waits if another thread is simulating the motion. NULL
// with OD_OK: out of memory; the run must simulate the motion itself. Fails like od_kept_motion_new().
od_status od_shared_truth_motion(od_shared_truth *s, od_going_on going, const od_kept_motion **out, od_error *err);

// Simulates those of the first `sets` sets of a fit that have no log. Stores their motions in the plan, up to the limit of memory.
// Sets that cannot be simulated are skipped here; the fits report the error. Fails with OD_INTERRUPTED.
od_status od_shared_truths_keep_sets(od_shared_truths *all, od_fit_plan *plan, int sets, od_going_on going,
                                     od_error *err);

#endif

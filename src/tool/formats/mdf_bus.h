// CAN frames in an MDF 4 file (bus logging), as a source for the decoder of CAN frames.
#ifndef OD_FORMATS_MDF_BUS_H
#define OD_FORMATS_MDF_BUS_H

#include "formats/can_frames.h"
#include "formats/mdf_rows.h"

extern const od_can_source od_mdf_bus_source;

// Opens the frames of a file. *out is NULL if the file has no group of frames (channels CAN_DataFrame.ID and CAN_DataFrame.DataBytes, with
// a time). The file must outlive the source. Fails with OD_NO_MEMORY.
od_status od_mdf_bus_open(const od_mdf_log *log, void **out, od_error *err);

#endif

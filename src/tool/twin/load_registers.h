// Reads the registers of a Modbus source.
#ifndef OD_TWIN_LOAD_REGISTERS_H
#define OD_TWIN_LOAD_REGISTERS_H

#include "twin/twin.h"

extern const od_section_class od_twin_register_section;

// Reads the map at this node (-1: there is none) into s->reg, in the order of the file. Reports every mistake.
void od_twin_read_registers(od_loader *ld, od_twin_source *s, int node, od_arena *memory);

#endif

#include "twin/load_registers.h"

#include <string.h>

#include "document/document.h"
#include "document/quantities.h"

static const od_key keys[] = {
    {"address",
     OD_WHOLE,
     "1",
     "address of the first register in the protocol, from 0",
     OD_NOT_NEGATIVE,
     OD_REQUIRED,
     {0, 65535}},
    {"kind", OD_CHOICE, "holding|input|coil|discrete",
     "table of the server: holding registers, input registers, coils, discrete inputs"},
    {"type", OD_CHOICE, "uint16|int16|uint32|int32|uint64|int64|float32|float64",
     "form of the number, in one, two or four registers; a coil or discrete input is 0 or 1 and has no type"},
    {"order", OD_CHOICE, "big|little", "whether the first register has the highest (`big`) or the lowest 16 bits"},
    {"scale", OD_NUMBER, "1", "factor of the number", .fallback = 1},
    {"offset", OD_NUMBER, "1", "number that is added after the factor", .fallback = 0},
    {"unit", OD_TEXT, NULL, "unit of the scaled number", .otherwise = "none"},
};
const od_section_class od_twin_register_section = {"twin register", "register of a Modbus server", OD_KEYS(keys)};

enum { MOST_REGISTERS = 4095 };

static void read_register(od_loader *ld, od_twin_source *s, int key) {
  static const int sizes[] = {1, 1, 2, 2, 4, 4, 2, 4};
  od_twin_register *r = &s->reg[s->registers++];
  r->name = od_text_of(ld, key);
  od_section section =
      od_section_open(ld, od_value(ld, key), key, od_format(ld, "sources.%s.registers.%s", s->name, r->name),
                      od_format(ld, "the register '%s'", od_excerpt(ld, r->name)), &od_twin_register_section);
  if (section.map < 0) return;
  const int address = od_section_need(ld, &section, "address"), type = od_section_get(ld, &section, "type");
  r->address = address >= 0 ? (int)od_key_whole(ld, &section, "address") : 0;
  r->kind = (od_register_kind)od_key_setting(ld, &section, "kind");
  r->type = (od_register_type)od_key_setting(ld, &section, "type");
  r->is_little = od_key_setting(ld, &section, "order") == 1;
  r->scale = od_key_value(ld, &section, "scale");
  r->offset = od_key_value(ld, &section, "offset");
  r->unit = od_key_text(ld, &section, "unit", "a unit");
  const bool is_bit = od_register_is_bit(r->kind);
  r->size = is_bit ? 1 : sizes[r->type];
  if (is_bit && type >= 0) od_complain(ld, type, "coils and discrete inputs have no 'type'; remove the key");
  if (r->address + r->size > 65536)
    od_complain(ld, address, "the number has %d registers and begins at %d; the last address is 65535", r->size,
                r->address);
  if (strcmp(r->name, "time") == 0)
    od_complain(ld, key, "'time' is the column of the times; expected another name of the register");
}

void od_twin_read_registers(od_loader *ld, od_twin_source *s, int node, od_arena *memory) {
  od_index seen = {0};  // in the memory of the loader
  if (node < 0 || !od_is_map(ld, node)) return;
  const int count = ld->tree.node[node].count;
  if (count == 0 || count > MOST_REGISTERS) {
    od_complain(ld, node, "found %d registers; expected 1 to %d registers", count, MOST_REGISTERS);
    return;
  }
  s->reg = OD_TAKE(memory, od_twin_register, count);
  for (int key = od_first(ld, node, "registers"); s->reg && key >= 0; key = od_next(ld, key))
    if (!od_seen_before(ld, &seen, key)) read_register(ld, s, key);
}

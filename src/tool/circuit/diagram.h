// The hydraulic circuit of a machine as a laid-out diagram with symbols of ISO 1219: SVG, data for the page, and the outputs that a
// moving diagram needs.
#ifndef OD_CIRCUIT_DIAGRAM_H
#define OD_CIRCUIT_DIAGRAM_H

#include <jansson.h>
#include <stdio.h>

#include "base/arena.h"
#include "oleodyn/machine.h"
#include "oleodyn/status.h"

typedef struct od_circuit od_circuit;

// Lays out the circuit of a machine; the machine need not have an initial state. The arena owns *c. The machine must
// outlive *c, which refers to texts of the machine. *c is NULL if the machine has no circuit. Fails with OD_NO_MEMORY.
// The result depends on the machine only.
od_status od_circuit_make(const od_machine *machine, od_arena *arena, const od_circuit **c, od_error *err);
// Same as od_circuit_make(), for a model without a machine file. Fails with OD_NO_MEMORY.
od_status od_circuit_make_model(const od_model *model, od_arena *arena, const od_circuit **c, od_error *err);

// Returns the number of outputs of the machine that a moving diagram needs. *outputs: their indices, each once.
int od_circuit_outputs(const od_circuit *c, const int **outputs);

// Returns the nodes with their pressures, and the outputs of a moving diagram, by name:
// {"nodes": [{"name", "pressure"}], "outputs": [names]}; NULL: an allocation failed.
json_t *od_circuit_json(const od_circuit *c);
// Returns the sections of the circuit: [{"name", "label", "parts": [names of elements and nodes]}]. The last entry
// contains the elements and nodes that belong to no section. The list is empty if the circuit has fewer than two
// sections and shows no template instance. NULL: an allocation failed.
json_t *od_circuit_groups(const od_circuit *c);

// Returns width and height of the diagram, px.
typedef struct od_circuit_extent {
  double width, height;
} od_circuit_extent;
od_circuit_extent od_circuit_size(const od_circuit *c);
// Writes one <svg> element of class "circuit". docs/circuit-diagram.md describes its data- attributes.
void od_circuit_svg(const od_circuit *c, FILE *to);
// Writes a complete SVG file: the element of od_circuit_svg() with a title and a style sheet.
void od_circuit_svg_file(const od_circuit *c, FILE *to);
// Returns the style sheet of the diagram: colors as custom properties of svg.circuit, light and dark.
const char *od_circuit_style(void);
// Writes the style sheet of a picture in its own file: the rules with the colors of the light theme, then
// od_circuit_style(). Programs without custom properties, such as librsvg and Inkscape, use only the first rules.
void od_circuit_write_style(FILE *to);

#endif

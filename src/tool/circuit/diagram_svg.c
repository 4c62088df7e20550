// Writes a laid-out circuit as SVG. All bindings to outputs are data- attributes, so that a page can animate the diagram by changing
// attributes only.
#include <math.h>
#include <string.h>

#include "circuit/circuit_private.h"
#include "circuit/diagram.h"
#include "circuit/pen.h"
#include "io/svg.h"

static const char *const colors[OD_NET_COLORS] = {"supply", "work", "feed", "sense", "loop-a", "loop-b", "tank"};

static void put(FILE *to, const char *name, double value) {
  fprintf(to, " %s=\"", name), od_put_number(to, value), fputc('"', to);
}

static const char *section_name(const od_sheet *s, int section) {
  return s->graph->section[section].name;
}

// --- Frames -----------------------------------------------------------------------------------------------------------

static void put_rectangle(FILE *to, const char *class_name, const od_frame *f, double round) {
  fprintf(to, "<rect class=\"%s\"", class_name);
  put(to, "x", f->x), put(to, "y", f->y), put(to, "width", f->width), put(to, "height", f->height);
  if (round > 0) put(to, "rx", round);
  fputs("/>", to);
}

static void put_frames(const od_sheet *s, FILE *to) {
  for (int i = 0; i < s->frames; i++) {
    const od_frame *f = &s->frame[i];
    fputs("<g class=\"section\"", to);
    od_put_attribute(to, "data-group", section_name(s, f->section));
    fputc('>', to);
    put_rectangle(to, "frame", f, 6);
    if (f->title) {
      fputs("<text class=\"section-name\"", to);
      put(to, "x", f->x + 10), put(to, "y", f->y + 16);
      fputc('>', to);
      od_xml_text(to, f->title);
      fputs("</text>", to);
    }
    fputs("</g>\n", to);
  }
  for (int i = 0; i < s->enclosures; i++) put_rectangle(to, "enclosure", &s->enclosure[i], 2);
}

// --- Lines ------------------------------------------------------------------------------------------------------------

static void put_flow(const od_sheet *s, FILE *to, const od_piece *p) {
  if (p->terms == 0) return;
  fputs(" data-flow=\"", to);
  for (int i = 0; i < p->terms; i++) {
    fprintf(to, "%s%c", i ? " " : "", p->term[i].sign > 0 ? '+' : '-');
    od_xml_text(to, od_model_output_name(s->graph->model, p->term[i].output));
  }
  fputc('"', to);
}

static void put_piece(const od_sheet *s, FILE *to, const od_piece *p) {
  const od_net *net = &s->graph->net[p->net];
  fprintf(to, "<path class=\"line %s %s\"",
          !p->is_dashed  ? "flow"
          : net->is_tank ? "drain"
                         : "pilot",
          colors[net->color]);
  od_put_attribute(to, "data-node", net->name);
  put_flow(s, to, p);
  fputs(" d=\"", to);
  for (int i = 0; i < p->points; i++) fprintf(to, "%c%d %d", i ? 'L' : 'M', p->xy[2 * i], p->xy[2 * i + 1]);
  fputs("\"/>\n", to);
}

static void put_lines(const od_sheet *s, FILE *to) {
  for (int i = 0; i < s->pieces; i++)
    if (s->piece[i].cell < 0) put_piece(s, to, &s->piece[i]);
  for (int i = 0; i < s->dots; i++) {
    const od_dot *d = &s->dot[i];
    const od_net *net = &s->graph->net[d->net];
    fprintf(to, "<circle class=\"dot %s\"", colors[net->color]);
    od_put_attribute(to, "data-node", net->name);
    fprintf(to, " cx=\"%d\" cy=\"%d\" r=\"2.8\"/>\n", d->x, d->y);
  }
}

// --- Elements ---------------------------------------------------------------------------------------------------------

// Writes the places of the ends, as "key[place] x y" separated by semicolons. The place of an end at a tank is the
// point of the symbol where the line to the tank symbol begins.
static void put_ends(const od_sheet *s, const od_cell *c, FILE *to) {
  const od_part *part = od_cell_part(s, c);
  const char *between = "";
  if (!part) return;
  fputs(" data-ends=\"", to);
  for (int i = c->pin; i < c->pin + c->pins; i++) {
    const od_pin *p = &s->pin[i];
    fprintf(to, "%s%s[%d] %d %d", between, part->end[p->end].key, part->end[p->end].place,
            od_pin_x(s, p) + (c->is_mirrored ? -p->reach : p->reach), od_pin_y(s, p));
    between = ";";
  }
  for (int i = 0; i < c->stubs; i++) {
    const od_tank_stub *t = &c->stub[i];
    int x = c->x + (c->is_mirrored ? c->width - t->x - t->reach : t->x + t->reach);
    fprintf(to, "%s%s[%d] %d %d", between, part->end[t->end].key, part->end[t->end].place, x, c->y + t->y);
    between = ";";
  }
  fputc('"', to);
}

static void put_element(const od_sheet *s, const od_cell *c, FILE *to) {
  od_pen pen = {.sheet = s, .cell = c, .to = to};
  const od_part *part = od_cell_part(s, c);
  fputs("<g class=\"element\"", to);
  od_put_attribute(to, "data-part", part ? part->name : s->graph->net[c->net].name);
  od_put_attribute(to, "data-class", part ? part->class_name : "source");
  if (c->section >= 0 && s->graph->sections > 1) od_put_attribute(to, "data-group", section_name(s, c->section));
  put_ends(s, c, to);
  fputs("><title>", to);
  od_xml_text(to, part ? part->name : s->graph->net[c->net].name);
  fprintf(to, ": %s</title>", part ? part->class_name : "source");
  fputs("<rect class=\"hit\"", to);
  put(to, "x", c->x), put(to, "y", c->y), put(to, "width", c->width), put(to, "height", c->height);
  fputs("/>", to);
  for (int i = 0; i < s->pieces; i++)
    if (s->piece[i].cell == c - s->cell) put_piece(s, to, &s->piece[i]);
  c->symbol->glyph->draw(s, c, &pen);
  for (int i = 0; i < c->stubs; i++) od_pen_tank(&pen, c->stub[i].x, c->stub[i].y + c->stub[i].length);
  fputs("</g>\n", to);
}

// --- Names ------------------------------------------------------------------------------------------------------------

static void put_names(const od_sheet *s, FILE *to) {
  for (int i = 0; i < s->names; i++) {
    const od_node_name *n = &s->name[i];
    const od_net *net = &s->graph->net[n->net];
    fprintf(to, "<text class=\"name node-name %s\"", colors[net->color]);
    od_put_attribute(to, "data-node", net->name);
    put(to, "x", n->is_right ? n->x + n->width + n->value_width : n->x), put(to, "y", n->y);
    if (n->is_right) fputs(" text-anchor=\"end\"", to);
    if (n->piece >= 0) put_flow(s, to, &s->piece[n->piece]);
    fputc('>', to);
    od_xml_text(to, n->text);
    fputs("<tspan class=\"node-value\" dx=\"4\"", to);
    od_put_attribute(to, "data-node", net->name);
    fputs("></tspan></text>\n", to);
  }
}

// --- Document ---------------------------------------------------------------------------------------------------------

typedef struct bounds {
  double left, top, right, bottom;
} bounds;

static void include(bounds *b, double left, double top, double right, double bottom) {
  b->left = fmin(b->left, left), b->top = fmin(b->top, top);
  b->right = fmax(b->right, right), b->bottom = fmax(b->bottom, bottom);
}

static bounds bounds_of(const od_sheet *s) {
  bounds b = {INFINITY, INFINITY, -INFINITY, -INFINITY};
  for (int i = 0; i < s->marks; i++) include(&b, s->mark[i].left, s->mark[i].top, s->mark[i].right, s->mark[i].bottom);
  for (int i = 0; i < s->segments; i++)
    include(&b, s->segment[i].x1, s->segment[i].y1, s->segment[i].x2, s->segment[i].y2);
  for (int i = 0; i < s->names; i++) {
    const od_node_name *n = &s->name[i];
    include(&b, n->x, n->y - 8, n->x + n->width + n->value_width, n->y + 3);
  }
  for (int i = 0; i < s->frames; i++) {
    const od_frame *f = &s->frame[i];
    include(&b, f->x, f->y, f->x + f->width, f->y + f->height);
  }
  for (int i = 0; i < s->enclosures; i++) {
    const od_frame *f = &s->enclosure[i];
    include(&b, f->x, f->y, f->x + f->width, f->y + f->height);
  }
  return b;
}

static const double margin = 8;  // around the content of the diagram, px

od_circuit_extent od_circuit_size(const od_circuit *c) {
  bounds b = bounds_of(&c->sheet);
  return (od_circuit_extent){b.right - b.left + 2 * margin, b.bottom - b.top + 2 * margin};
}

static void write_svg(const od_circuit *c, FILE *to, bool is_file) {
  const od_sheet *s = &c->sheet;
  bounds b = bounds_of(s);
  double left = floor(b.left - margin), top = floor(b.top - margin);
  double width = ceil(b.right + margin - left), height = ceil(b.bottom + margin - top);
  fputs(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"circuit\" role=\"img\" aria-label=\"Hydraulic circuit\" viewBox=\"",
      to);
  od_put_number(to, left), fputc(' ', to), od_put_number(to, top), fputc(' ', to);
  od_put_number(to, width), fputc(' ', to), od_put_number(to, height), fputc('"', to);
  put(to, "width", width), put(to, "height", height);
  fputs(">\n", to);
  if (is_file) {
    fputs("<title>", to);
    od_xml_text(to, *c->title ? c->title : "Hydraulic circuit");
    fputs("</title>\n<style>", to), od_circuit_write_style(to), fputs("</style>\n", to);
    fputs("<rect class=\"paper\"", to);
    put(to, "x", left), put(to, "y", top), put(to, "width", width), put(to, "height", height);
    fputs("/>\n", to);
  }
  put_frames(s, to);
  put_lines(s, to);
  for (int i = 0; i < s->cells; i++)
    if (!s->cell[i].is_feed) put_element(s, &s->cell[i], to);
  put_names(s, to);
  fputs("</svg>\n", to);
}

void od_circuit_svg(const od_circuit *c, FILE *to) {
  write_svg(c, to, false);
}

void od_circuit_svg_file(const od_circuit *c, FILE *to) {
  write_svg(c, to, true);
}

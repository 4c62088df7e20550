// Texts of labels: estimated widths, shortened names, and values in display units.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "circuit/label_text.h"
#include "circuit/sheet.h"
#include "io/display.h"
#include "io/number.h"
#include "io/utf8.h"

// Widths of the characters 32 to 126 in thousandths of the font size. Each width is the largest among usual sans-serif
// fonts.
static const unsigned short widths[95] = {
    300, 330, 430, 700, 600, 900, 720, 250, 370, 370, 500, 640, 300, 370,  300, 340, 600, 600, 600,
    600, 600, 600, 600, 600, 600, 600, 320, 320, 640, 640, 640, 560, 1000, 690, 680, 720, 740, 640,
    600, 770, 750, 310, 530, 680, 580, 870, 760, 780, 650, 780, 700, 660,  640, 740, 690, 970, 680,
    670, 660, 370, 340, 370, 640, 560, 550, 570, 600, 530, 610, 580, 350,  600, 590, 270, 270, 560,
    270, 890, 590, 590, 600, 600, 400, 520, 370, 590, 540, 760, 530, 540,  520, 400, 300, 400, 640};

// Pages enlarge the texts of small pictures up to 12 px. Estimated widths contain this factor, so that enlarged texts
// have room.
static const double room_to_grow = 1.15;

double od_text_width(const char *text, double size, bool is_bold) {
  double sum = 0;
  const unsigned char *s = (const unsigned char *)text;
  size_t left = strlen(text);
  while (left > 0) {
    size_t length = od_utf8_length(s, left);
    if (length == 0) length = 1;
    sum += length > 2 ? 1000 : length > 1 ? 620 : *s >= 32 && *s < 127 ? widths[*s - 32] : 600;
    s += length, left -= length;
  }
  return room_to_grow * sum * size * (is_bold ? 1.05 : 0.97) / 1000;
}

const char *od_text_shortened(const char *text, int most, od_arena *arena) {
  const unsigned char *s = (const unsigned char *)text;
  size_t left = strlen(text), at = 0, cut = 0;
  int count = 0;
  for (; left > 0; count++) {
    size_t length = od_utf8_length(s + at, left);
    if (length == 0) length = 1;
    if (count == most - 1) cut = at;
    at += length, left -= length;
  }
  if (count <= most) return text;
  char *out = od_arena_take(arena, cut + 4);
  if (!out) return NULL;
  memcpy(out, text, cut);
  memcpy(out + cut, "\u2026", 4);
  return out;
}

enum { MOST_NAME = 26 };

static void add_line(od_sheet *s, od_cell *c, const char *text) {
  if (c->labels == OD_MOST_LABELS) return;
  const char *line = od_text_shortened(text, MOST_NAME, s->arena);
  if (line == text) line = od_arena_text(s->arena, text);
  if (!line) {
    s->failed = true;
    return;
  }
  c->label[c->labels++] = line;
}

void od_value_text(char text[OD_NUMBER_SIZE], double value, int digits) {
  od_number_round(text, value, digits);
  if (fabs(value) >= pow(10, digits) && fabs(value) < 1e9) {
    double unit = pow(10, floor(log10(fabs(value))) + 1 - digits);
    od_number_fixed(text, round(value / unit) * unit, 0);
  }
}

// Writes a number of a part in its display unit with four digits: "320 bar". The text is empty if the class has no such
// number, or if the number only scales a signal.
static void value_text(const od_sheet *s, const od_part *part, const od_value_line *line, char *text, size_t size) {
  const od_model *m = s->graph->model;
  const od_instance *e = &m->instance[part->instance];
  const od_element_description *d = od_instance_description(m, e);
  *text = 0;
  for (int k = 0; k < d->field_count && k < e->numbers; k++) {
    if (strcmp(d->fields[k].key, line->key) != 0) continue;
    bool follows = d->fields[k].follows_signal && e->signal >= 0;
    double value = m->theta[e->number + k];
    const char *unit = od_number_unit(m, e->number + k);
    if ((!*unit || strcmp(unit, "1") == 0) && *d->fields[k].unit != '*') unit = d->fields[k].unit;
    od_display shown = od_display_unit(unit, value);
    char number[OD_NUMBER_SIZE];
    od_value_text(number, value * shown.factor, 4);
    if (follows && (value == 1 || strcmp(unit, d->fields[k].unit) != 0)) return;
    snprintf(text, size, "%s%s%s%.40s", line->before ? line->before : "", number, *shown.unit ? " " : "", shown.unit);
  }
}

void od_cell_label(od_sheet *s, od_cell *c) {
  const od_part *part = od_cell_part(s, c);
  char text[1500];
  if (!part) return;
  add_line(s, c, part->label);
  for (int i = 0; i < OD_MOST_VALUE_LINES && part->symbol->line[i].key; i++) {
    value_text(s, part, &part->symbol->line[i], text, sizeof text);
    if (*text) add_line(s, c, text);
  }
  const char *signal = od_part_signal_name(s->graph, part);
  if (!signal) return;
  const char *shown = od_text_shortened(signal, MOST_NAME - 2, s->arena);
  c->signal = shown ? od_arena_format(s->arena, "\u2190 %s", shown) : NULL;
  if (!c->signal) s->failed = true;
}

double od_cell_signal_width(const od_cell *c) {
  return c->signal ? od_text_width(c->signal, OD_LABEL_SIZE, false) : 0;
}

int od_cell_label_width(const od_cell *c) {
  double most = 0;
  for (int i = 0; i < c->labels; i++) most = fmax(most, od_text_width(c->label[i], OD_LABEL_SIZE, i == 0));
  if (!c->signal_is_apart) most = fmax(most, od_cell_signal_width(c));
  return (int)ceil(most);
}

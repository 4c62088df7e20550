// Writes the picture of a machine as SVG: frame, ground, texts, and all parts of planar machines in drawing order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/svg.h"
#include "memory/scoped.h"
#include "scene/scene_draw.h"

enum { WIDTH = 900, HEIGHT = 600 };

// --- Style ------------------------------------------------------------------------------------------------------------

// Rules refer to variables, which the page or od_scene_style() defines.
#define RULES                                                                                                    \
  ".scene .body{--f:color-mix(in srgb,var(--body),#000 var(--s,0%));fill:var(--f);stroke:var(--bodyline)}"       \
  ".scene .base{--f:color-mix(in srgb,var(--base),#000 var(--s,0%));fill:var(--f);stroke:var(--base2)}"          \
  ".scene .dark{--f:color-mix(in srgb,var(--base2),#000 var(--s,0%));fill:var(--f);stroke:var(--base2)}"         \
  ".scene .glass{--f:color-mix(in srgb,var(--glass),#000 var(--s,0%));fill:var(--f);stroke:var(--base2)}"        \
  ".scene .steel{--f:color-mix(in srgb,var(--steel),#000 var(--s,0%));fill:var(--f);stroke:var(--steelline)}"    \
  ".scene .accent{--f:color-mix(in srgb,var(--accent),#000 var(--s,0%));fill:var(--f);stroke:var(--accentline)}" \
  ".scene .soil{fill:var(--soil);stroke:none}.scene .soilline{fill:none;stroke:var(--soilline)}"                 \
  ".scene .own{stroke:var(--steelline)}.scene .detail{fill:none;stroke-opacity:.3;stroke-linecap:round}"         \
  ".scene .pin{fill:var(--card);stroke:var(--pin)}.scene .tool{fill:var(--pin);stroke:var(--card)}"              \
  ".scene .line{fill:none;stroke:var(--pin)}.scene .gap{fill:none;stroke:#d11a2a}"                               \
  ".scene .barrel{fill:none;stroke:var(--steelline)}.scene .cap{fill:var(--steelline);stroke:none}"              \
  ".scene .side{stroke:none}.scene .flat{stroke:var(--f);stroke-width:1.4px}.scene .edge{fill:none}"             \
  ".scene text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"         \
  "font-size:12px;fill:var(--ink2)}.scene .name{font-weight:600;fill:var(--ink);paint-order:stroke;"             \
  "stroke:var(--card);stroke-width:3px;stroke-linejoin:round}.scene .gapname{fill:#d11a2a}.scene .bar{fill:none;stroke:var(--ink2)}"

const char *od_scene_style(void) {
  return ".scene{--card:#fff;--ink:#161a20;--ink2:#4d5661;--body:#f0c766;--bodyline:#7a5a17;--base:#39424d;--base2:#2b323b;"
         "--glass:#a9bccb;--steel:#cfd6dd;--steelline:#3b444e;--accent:#d9683c;--accentline:#7d3213;--pin:#3b444e;"
         "--soil:#e9e2d6;--soilline:#b7a88c;background:var(--card)}"
         "@media (prefers-color-scheme:dark){.scene{--card:#14181e;--ink:#e9edf2;--ink2:#aab4c0;--body:#7d6428;"
         "--bodyline:#d6b15a;--base:#465260;--base2:#333d48;--glass:#6d8296;--steel:#8a95a1;--steelline:#0d1014;"
         "--accent:#8f4526;--accentline:#e79a74;--pin:#d3dae2;--soil:#221e19;--soilline:#5b4f3d}}" RULES;
}

const char *od_scene_rules(void) {
  return RULES;
}

int od_draw_color(const char *color) {
  static const struct {
    const char *word;
    int value;
  } light[] = {{"body", 0xf0c766},  {"base", 0x39424d},   {"dark", 0x2b323b}, {"glass", 0xa9bccb},
               {"steel", 0xcfd6dd}, {"accent", 0xd9683c}, {"soil", 0xe9e2d6}};
  if (color && color[0] == '#') return (int)strtol(color + 1, NULL, 16);
  for (size_t i = 0; color && i < sizeof light / sizeof *light; i++)
    if (strcmp(color, light[i].word) == 0) return light[i].value;
  return light[0].value;
}

static int darker(int color, double shade) {
  int out = 0;
  for (int k = 16; k >= 0; k -= 8) out |= (int)lround(((color >> k) & 255) * (1 - shade)) << k;
  return out;
}

// Returns the color of the edges of a word in the light theme.
int od_draw_edge_color(const char *color) {
  if (!strcmp(color, "body")) return 0x7a5a17;
  if (!strcmp(color, "accent")) return 0x7d3213;
  if (!strcmp(color, "steel") || color[0] == '#') return 0x3b444e;
  return 0x2b323b;
}

int od_draw_shaded(const char *color, double shade) {
  return darker(od_draw_color(color), round(fmax(0, fmin(1, shade)) * 50) / 50);
}

void od_draw_fill(const od_draw *d, const char *color, double shade, bool has_edge) {
  bool is_own = color[0] == '#';
  shade = round(fmax(0, fmin(1, shade)) * 50) / 50;
  int fill = od_draw_shaded(color, shade);
  fprintf(d->to, " class=\"%s%s\"", is_own ? "own" : color, has_edge ? "" : " flat");
  if (!is_own && shade > 0) fprintf(d->to, " style=\"--s:%.0f%%\"", 100 * shade);
  if (is_own && !has_edge) fprintf(d->to, " style=\"--f:#%06x\"", (unsigned)fill);
  fprintf(d->to, " fill=\"#%06x\" stroke=\"#%06x\"", (unsigned)fill,
          (unsigned)(has_edge ? od_draw_edge_color(color) : fill));
}

// The scale of pressures. Colors of higher pressures are darker.
int od_draw_pressure_color(double place) {
  static const int color[] = {0x74b7df, 0x519ae2, 0x716ed3, 0x96359d, 0x9a0b35, 0x710f16};
  if (isnan(place)) return 0xd9dee4;
  double at = fmax(0, fmin(1, place)) * 5;
  int i = at >= 5 ? 4 : (int)at, out = 0;
  for (int k = 16; k >= 0; k -= 8) {
    double a = (color[i] >> k) & 255, b = (color[i + 1] >> k) & 255;
    out |= (int)lround(a + (b - a) * (at - i)) << k;
  }
  return out;
}

double od_draw_pressure(const od_draw *d, int output) {
  if (output < 0) return NAN;
  double p = d->value ? d->value[output] : d->s->value[output];
  // The scale ends at 300 bar, or at the highest pressure if this pressure is above 300 bar.
  return p / fmax(3e7, d->highest);
}

// --- Places -----------------------------------------------------------------------------------------------------------

void od_draw_place(const od_draw *d, const od_scene_end *end, double out[3]) {
  od_pose_apply(od_scene_pose_at(d->s, end->body, d->value), end->at, false, out);
}

void od_draw_project(const od_draw *d, const double at[3], double out[2]) {
  out[0] = d->x + d->scale * od_dot3(at, d->across);
  out[1] = d->y - d->scale * od_dot3(at, d->up);
}

static void project_end(const od_draw *d, const od_scene_end *end, double out[2]) {
  double at[3];
  od_draw_place(d, end, at);
  od_draw_project(d, at, out);
}

typedef struct box {
  double low[2], high[2];
} box;

static void include(box *b, double x, double y, double r) {
  b->low[0] = fmin(b->low[0], x - r), b->high[0] = fmax(b->high[0], x + r);
  b->low[1] = fmin(b->low[1], y - r), b->high[1] = fmax(b->high[1], y + r);
}

// Computes the extent of all parts in the picture, m.
static box extent_of(const od_draw *d) {
  const od_scene *s = d->s;
  box b = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
  double at[3];
  for (int i = 0; i < s->bodies; i++)
    for (int k = 0; k < s->body[i].shapes; k++) {
      const od_look_shape *shape = &s->body[i].shape[k];
      double r = shape->kind == OD_LOOK_DISC      ? shape->radius
                 : shape->kind == OD_LOOK_CAPSULE ? shape->width / 2
                 : shape->kind == OD_LOOK_BOX     ? 0
                 : s->is_planar                   ? 0
                                                  : shape->thickness / 2;
      for (int n = 0; n < (shape->kind == OD_LOOK_BOX ? 8 : shape->points); n++) {
        double own[3];
        memcpy(own, shape->point[shape->kind == OD_LOOK_BOX ? 0 : n], sizeof own);
        for (int c = 0; c < 3 && shape->kind == OD_LOOK_BOX; c++) own[c] += shape->size[c] * ((n >> c & 1) - 0.5);
        for (int side = -1; side <= 1; side += 2) {  // both faces of a disc
          double end[3];
          for (int c = 0; c < 3; c++)
            end[c] = own[c] + (shape->kind == OD_LOOK_DISC ? side * shape->thickness / 2 * shape->axis[c] : 0);
          od_pose_apply(od_scene_pose_at(s, i, d->value), end, false, at);
          include(&b, od_dot3(at, d->across), od_dot3(at, d->up), r);
        }
      }
    }
  for (int i = 0; i < s->cylinders; i++)
    for (int k = 0; k < 2; k++) {
      od_draw_place(d, k ? &s->cylinder[i].b : &s->cylinder[i].a, at);
      include(&b, od_dot3(at, d->across), od_dot3(at, d->up), s->cylinder[i].diameter);
    }
  for (int i = 0; i < s->joints; i++) {
    od_draw_place(d, &s->joint[i].a, at);
    include(&b, od_dot3(at, d->across), od_dot3(at, d->up), 2 * s->joint[i].radius);
  }
  for (int i = 0; i < s->springs + s->ropes + s->rods; i++)
    for (int k = 0; k < 2; k++) {
      const od_scene_line *l = i < s->springs              ? &s->spring[i]
                               : i < s->springs + s->ropes ? &s->rope[i - s->springs]
                                                           : &s->rod[i - s->springs - s->ropes];
      od_draw_place(d, k ? &l->b : &l->a, at);
      include(&b, od_dot3(at, d->across), od_dot3(at, d->up), l->diameter / 2);
    }
  for (int i = 0; i < s->gaps; i++)
    for (int k = 0; k < 2; k++) {
      const double *p = k ? s->gap[i].b : s->gap[i].a;
      include(&b, od_dot3(p, d->across), od_dot3(p, d->up), 0.01 * s->size);
    }
  return b;
}

// --- Shapes in the plane ----------------------------------------------------------------------------------------------

static void write_polygon(const od_draw *d, const double (*p)[2], int n) {
  fputs(" d=\"", d->to);
  for (int i = 0; i < n; i++) fprintf(d->to, "%c%.1f %.1f", i ? 'L' : 'M', p[i][0], p[i][1]);
  fputs("Z\"/>\n", d->to);
}

static void draw_outline(od_draw *d, const od_look_shape *shape, const double *pose) {
  OD_SCRATCH(scratch);
  bool is_box = shape->kind == OD_LOOK_BOX, is_line = shape->kind == OD_LOOK_LINE;
  int n = is_box ? 8 : shape->points;
  double(*p)[2] = od_arena_take_array(&scratch, n + 1, sizeof *p);
  if (!p) return;
  for (int i = 0; i < n; i++) {
    double own[3], at[3];
    memcpy(own, shape->point[is_box ? 0 : i], sizeof own);
    for (int k = 0; is_box && k < 3; k++) own[k] += shape->size[k] * ((i >> k & 1) - 0.5);
    od_pose_apply(pose, own, false, at);
    od_draw_project(d, at, p[i]);
  }
  od_polygon polygon = {p, n};
  if (is_box) polygon = od_outline_points_hull(&scratch, p, n);
  const char *color = shape->color;
  if (is_line) {
    fprintf(d->to,
            "<path class=\"%s detail\" fill=\"none\" stroke=\"#%06x\" stroke-opacity=\".3\" stroke-width=\"%.1f\"",
            color[0] == '#' ? "own" : color, od_draw_edge_color(color), fmax(1, d->scale * shape->width));
    fputs(" d=\"", d->to);
    for (int i = 0; i < n; i++) fprintf(d->to, "%c%.1f %.1f", i ? 'L' : 'M', p[i][0], p[i][1]);
    fputs("\"/>\n", d->to);
    return;
  }
  fputs("<path", d->to);
  od_draw_fill(d, color, 0, true);
  write_polygon(d, (const double(*)[2])polygon.point, polygon.points);
}

static void draw_capsule(od_draw *d, const od_look_shape *shape, const double *pose) {
  OD_SCRATCH(scratch);
  double at[3], p[2][2];
  for (int i = 0; i < 2; i++) {
    od_pose_apply(pose, shape->point[i], false, at);
    od_draw_project(d, at, p[i]);
  }
  const od_circle c[2] = {{p[0][0], p[0][1], d->scale * shape->width / 2},
                          {p[1][0], p[1][1], d->scale * shape->end_width / 2}};
  od_polygon hull = od_outline_hull(&scratch, c, 2);
  fputs("<path", d->to);
  od_draw_fill(d, shape->color, 0, true);
  write_polygon(d, (const double(*)[2])hull.point, hull.points);
}

static void draw_body(od_draw *d, int i) {
  const od_scene_body *b = &d->s->body[i];
  const double *pose = od_scene_pose_at(d->s, i, d->value);
  if (!b->shapes) return;
  fputs("<g class=\"part\" data-part=\"", d->to);
  od_xml_text(d->to, b->name);
  fputs("\" stroke-width=\"1.6\" stroke-linejoin=\"round\">\n", d->to);
  for (int k = 0; k < b->shapes; k++) {
    const od_look_shape *shape = &b->shape[k];
    if (shape->kind == OD_LOOK_CAPSULE) {
      draw_capsule(d, shape, pose);
    } else if (shape->kind == OD_LOOK_DISC && fabs(od_dot3(shape->axis, d->s->normal)) > 0.7) {
      double at[3], p[2];
      od_pose_apply(pose, shape->point[0], false, at);
      od_draw_project(d, at, p);
      fputs("<circle", d->to);
      od_draw_fill(d, shape->color, 0, true);
      fprintf(d->to, " cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", p[0], p[1], d->scale * shape->radius);
    } else if (shape->kind != OD_LOOK_DISC) {
      draw_outline(d, shape, pose);
    }
  }
  fputs("</g>\n", d->to);
}

// --- Cylinders --------------------------------------------------------------------------------------------------------

od_cylinder_parts od_draw_cylinder_parts(const od_scene_cylinder *c, double length) {
  od_cylinder_parts p = {.length = length};
  double eye = fmin(0.55 * c->diameter, 0.12 * c->closed), reach = fmin(c->closed, length);
  p.barrel = eye;
  p.end = fmax(0.3 * reach, reach - 1.3 * eye);
  p.thickness = fmin(0.35 * c->diameter, 0.1 * (p.end - p.barrel));
  double place = fmax(0, fmin(1, (length - c->closed) / c->stroke));
  p.piston = p.barrel + place * (p.end - p.barrel - p.thickness);
  return p;
}

static void write_rectangle(const od_draw *d, const char *class_name, int fill, double x0, double x1, double half) {
  fprintf(d->to, "<rect class=\"%s\" fill=\"#%06x\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
          class_name, fill, x0, -half, fmax(0, x1 - x0), 2 * half);
}

static void draw_cylinder(od_draw *d, const od_scene_cylinder *c) {
  double a[2], b[2], k = d->scale;
  project_end(d, &c->a, a);
  project_end(d, &c->b, b);
  double length = hypot(b[0] - a[0], b[1] - a[1]) / k, angle = atan2(b[1] - a[1], b[0] - a[0]) * 180 / acos(-1.0);
  od_cylinder_parts p = od_draw_cylinder_parts(c, length);
  double half = k * c->diameter / 2, rod = k * c->rod / 2;
  fputs("<g class=\"cylinder\" data-part=\"", d->to);
  od_xml_text(d->to, c->name);
  fprintf(d->to, "\" transform=\"translate(%.1f %.1f) rotate(%.2f)\" stroke=\"#3b444e\" stroke-width=\"1.4\">\n", a[0],
          a[1], angle);
  // The stages of a telescopic cylinder are drawn as nested tubes.
  for (int i = c->stages; i >= 1; i--) {
    double t = (double)i / c->stages, end = p.end + (length - p.end) * (i < c->stages ? t : 1);
    write_rectangle(d, "steel", 0xcfd6dd, k * p.piston, k * end, i == c->stages ? rod : rod + (half - rod) * (1 - t));
  }
  write_rectangle(d, "steel", 0xcfd6dd, 0, k * p.barrel, fmin(half, 0.55 * half + 1));
  for (int i = 0; i < 2; i++) {
    double x0 = k * (i ? p.piston : p.barrel), x1 = k * (i ? p.end : p.piston);
    if (c->node[i] < 0) {
      write_rectangle(d, "side", 0xeef1f4, x0, x1, half);
      continue;
    }
    fputs("<rect class=\"side chamber\" stroke=\"none\" data-node=\"", d->to);
    od_xml_text(d->to, od_model_text(d->s->m, d->s->m->node[c->node[i]].name));
    fprintf(d->to, "\" fill=\"#%06x\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            od_draw_pressure_color(od_draw_pressure(d, c->pressure[i])), x0, -half, fmax(0, x1 - x0), 2 * half);
  }
  write_rectangle(d, "steel", 0xcfd6dd, k * p.piston, k * p.end, rod);
  write_rectangle(d, "cap", 0x3b444e, k * p.piston, k * (p.piston + p.thickness), half);
  fprintf(d->to,
          "<rect class=\"barrel\" fill=\"none\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"/>\n",
          k * p.barrel, -half, k * (p.end - p.barrel), 2 * half);
  write_rectangle(d, "cap", 0x3b444e, k * p.end - 1, k * p.end + fmax(2.5, 0.12 * half), half + 1);
  fputs("</g>\n", d->to);
}

// --- Lines, pins ------------------------------------------------------------------------------------------------------

static void draw_spring(od_draw *d, const od_scene_line *l) {
  double a[2], b[2];
  project_end(d, &l->a, a);
  project_end(d, &l->b, b);
  double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy), half = d->scale * l->diameter / 2;
  if (!(length > 0)) return;
  int turns = (int)fmax(5, fmin(24, length / (1.6 * half)));
  double lead = fmin(0.12 * length, 2 * half);
  fputs("<path class=\"line spring\" data-part=\"", d->to);
  od_xml_text(d->to, l->name);
  fprintf(d->to, "\" fill=\"none\" stroke=\"#3b444e\" stroke-width=\"2\" stroke-linejoin=\"round\" d=\"M%.1f %.1f",
          a[0], a[1]);
  for (int i = 0; i <= 2 * turns; i++) {
    double t = (lead + (length - 2 * lead) * i / (2 * turns)) / length, o = i == 0 || i == 2 * turns ? 0
                                                                            : i % 2                  ? half
                                                                                                     : -half;
    fprintf(d->to, "L%.1f %.1f", a[0] + t * dx - o * dy / length, a[1] + t * dy + o * dx / length);
  }
  fprintf(d->to, "L%.1f %.1f\"/>\n", b[0], b[1]);
}

static void draw_line(od_draw *d, const od_scene_line *l, const char *class_name, double width) {
  double a[2], b[2];
  project_end(d, &l->a, a);
  project_end(d, &l->b, b);
  fprintf(d->to, "<line class=\"line %s\" data-part=\"", class_name);
  od_xml_text(d->to, l->name);
  fprintf(
      d->to,
      "\" stroke=\"#3b444e\" stroke-linecap=\"round\" stroke-width=\"%.1f\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
      width, a[0], a[1], b[0], b[1]);
}

static void draw_rod(od_draw *d, const od_scene_line *l) {
  OD_SCRATCH(scratch);
  double a[2], b[2], r = 0.35 * d->scale * l->diameter;
  project_end(d, &l->a, a);
  project_end(d, &l->b, b);
  const od_circle c[2] = {{a[0], a[1], r}, {b[0], b[1], r}};
  od_polygon hull = od_outline_hull(&scratch, c, 2);
  fputs("<g data-part=\"", d->to);
  od_xml_text(d->to, l->name);
  fputs("\" stroke-width=\"1.6\"><path", d->to);
  od_draw_fill(d, "steel", 0, true);
  write_polygon(d, (const double(*)[2])hull.point, hull.points);
  for (int i = 0; i < 2; i++)
    fprintf(d->to, "<circle class=\"pin\" fill=\"#ffffff\" stroke=\"#3b444e\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
            c[i].x, c[i].y, fmax(2, 0.42 * r));
  fputs("</g>\n", d->to);
}

static void draw_pin(od_draw *d, const double p[2], double radius) {
  fprintf(
      d->to,
      "<circle class=\"pin\" fill=\"#ffffff\" stroke=\"#3b444e\" stroke-width=\"1.8\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
      p[0], p[1], fmax(2.2, d->scale * radius));
}

static void draw_pins(od_draw *d) {
  const od_scene *s = d->s;
  double p[2];
  for (int i = 0; i < s->cylinders; i++) {
    const od_scene_cylinder *c = &s->cylinder[i];
    for (int k = 0; k < 2; k++) {
      const od_scene_end *e = k ? &c->b : &c->a;
      bool in_block = false;  // whether the end is in the middle of a sliding block, where no pin is drawn
      for (int j = 0; j < s->joints; j++)
        in_block =
            in_block || (!strcmp(s->joint[j].type, "prismatic") && s->joint[j].b.body == e->body && e->body > 0 &&
                         od_distance3(s->joint[j].b.at, e->at) < 1e-9 && s->body[e->body].radius > 0.02 * s->size);
      if (in_block) continue;
      project_end(d, e, p);
      draw_pin(d, p, fmin(0.22 * c->diameter, 0.009 * s->size));
    }
  }
  for (int i = 0; i < s->joints; i++) {
    if (!s->joint[i].is_pin) continue;
    project_end(d, &s->joint[i].a, p);
    draw_pin(d, p, s->joint[i].radius);
  }
  for (int i = 0; i < s->springs; i++)
    for (int k = 0; k < 2; k++) {
      project_end(d, k ? &s->spring[i].b : &s->spring[i].a, p);
      draw_pin(d, p, 0.005 * s->size);
    }
}

static void draw_plane(od_draw *d) {
  const od_scene *s = d->s;
  draw_body(d, 0);
  for (int i = 0; i < s->cylinders; i++)
    if (s->cylinder[i].is_behind) draw_cylinder(d, &s->cylinder[i]);
  for (int i = 0; i < s->ropes; i++) draw_line(d, &s->rope[i], "rope", 2);
  for (int i = 1; i < s->bodies; i++) draw_body(d, i);
  for (int i = 0; i < s->rods; i++) draw_rod(d, &s->rod[i]);
  for (int i = 0; i < s->cylinders; i++)
    if (!s->cylinder[i].is_behind) draw_cylinder(d, &s->cylinder[i]);
  for (int i = 0; i < s->springs; i++) draw_spring(d, &s->spring[i]);
  draw_pins(d);
}

// --- Frame ------------------------------------------------------------------------------------------------------------

static void draw_ground(od_draw *d) {
  const od_scene *s = d->s;
  if (!s->has_level || !s->is_planar) return;
  double y = d->y - d->scale * s->level;
  fprintf(d->to, "<rect class=\"soil\"%s fill=\"#%06x\" x=\"0\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
          s->ground_color[0] == '#' ? " style=\"fill:inherit\"" : "", od_draw_color(s->ground_color), y, d->width,
          fmax(0, d->height - y));
  fprintf(d->to,
          "<path class=\"soilline\" fill=\"none\" stroke=\"#b7a88c\" stroke-width=\"1.2\" d=\"M0 %.1fH%.1f\"/>\n", y,
          d->width);
}

// Writes a scale bar of 1, 2 or 5 times a power of ten.
static void draw_scale(od_draw *d) {
  double wanted = 0.13 * d->width / d->scale, power = pow(10, floor(log10(wanted)));
  double bar = wanted >= 5 * power ? 5 * power : wanted >= 2 * power ? 2 * power : power;
  double x = 20, y = d->height - 16, width = bar * d->scale;
  char text[40];
  if (bar < 0.0999)
    snprintf(text, sizeof text, "%g mm", round(bar * 1e9) / 1e6);
  else
    snprintf(text, sizeof text, "%g m", bar);
  fprintf(d->to, "<path class=\"bar\" fill=\"none\" stroke=\"#4d5661\" d=\"M%.1f %.1fv6h%.1fv-6\"/>\n", x, y - 6,
          width);
  od_svg_text(d->to, "scale", x + width + 8, y + 1, "start", text);
}

static void draw_gaps(od_draw *d) {
  const od_scene *s = d->s;
  for (int i = 0; i < s->gaps; i++) {
    double a[2], b[2];
    od_draw_project(d, s->gap[i].a, a);
    od_draw_project(d, s->gap[i].b, b);
    fprintf(
        d->to,
        "<path class=\"gap\" fill=\"none\" stroke=\"#d11a2a\" stroke-width=\"2.5\" stroke-dasharray=\"5 4\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
        a[0], a[1], b[0], b[1]);
    for (int k = 0; k < 2; k++)
      fprintf(
          d->to,
          "<circle class=\"gap\" fill=\"none\" stroke=\"#d11a2a\" stroke-width=\"2.5\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"/>\n",
          (k ? b : a)[0], (k ? b : a)[1]);
    od_svg_text(d->to, "name gapname", (a[0] + b[0]) / 2 + 12, (a[1] + b[1]) / 2 - 10, "start", s->gap[i].name);
  }
}

// The places of the names already written: the center and the half-width of each text.
typedef struct name_places {
  double (*at)[3];
  int count;
} name_places;

// Writes a name at the nearest place above or below p where the name overlaps no other name.
static void draw_name(od_draw *d, name_places *places, double x, double y, const char *name) {
  enum { LINE = 14, LETTER = 7, TRIALS = 9 };  // pixels: distance of lines, mean width of a letter
  double half = 0.5 * LETTER * (double)strlen(name) + 2, at = y;
  for (int trial = 0; trial < TRIALS; trial++) {
    bool is_free = true;
    at = y + (trial % 2 ? -1 : 1) * ((trial + 1) / 2) * LINE;
    for (int i = 0; i < places->count && is_free; i++) {
      const double *other = places->at[i];
      is_free = fabs(other[0] - x) >= other[2] + half || fabs(other[1] - at) >= LINE - 1;
    }
    if (is_free) break;
  }
  double *own = places->at[places->count++];
  own[0] = x, own[1] = at, own[2] = half;
  od_svg_text(d->to, "name", x, at, "middle", name);
}

static void draw_names(od_draw *d) {
  OD_SCRATCH(scratch);
  const od_scene *s = d->s;
  double p[2], q[2];
  name_places places = {.at = od_arena_take_array(&scratch, s->bodies + s->cylinders + 1, sizeof *places.at)};
  if (!places.at) return;
  for (int i = 1; i < s->bodies; i++) {
    double mass, center[3], inertia[6], at[3];
    if (!s->body[i].shapes) continue;
    od_model_body_inertia(s->m, s->body[i].index, &mass, center, inertia);
    od_pose_apply(od_scene_pose_at(s, i, d->value), center, false, at);
    od_draw_project(d, at, p);
    draw_name(d, &places, p[0], p[1] + 4, s->body[i].name);
  }
  for (int i = 0; i < s->cylinders; i++) {
    project_end(d, &s->cylinder[i].a, p);
    project_end(d, &s->cylinder[i].b, q);
    draw_name(d, &places, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2 - d->scale * s->cylinder[i].diameter,
              s->cylinder[i].name);
  }
}

void od_scene_svg_with(const od_scene *s, const double *value, const od_scene_picture *picture, FILE *to) {
  od_draw d = {.s = s, .value = value, .to = to, .names = picture->names};
  memcpy(d.to_viewer, s->view, sizeof d.to_viewer);
  if (s->is_planar) {
    memcpy(d.across, s->right, sizeof d.across);
    memcpy(d.up, s->up, sizeof d.up);
  } else {
    od_cross3(s->up, s->view, d.across);
    if (od_unit3(d.across) == 0) memcpy(d.across, s->right, sizeof d.across);
    od_cross3(s->view, d.across, d.up);
  }
  for (int i = 0; i < s->cylinders; i++)
    for (int k = 0; k < 2; k++) {
      int output = s->cylinder[i].pressure[k];
      if (output >= 0) d.highest = fmax(d.highest, value ? value[output] : s->value[output]);
    }
  box b = extent_of(&d);
  if (s->has_level && s->is_planar) {
    include(&b, b.low[0], s->level, 0);
    b.low[1] = fmin(b.low[1], s->level - 0.07 * fmax(b.high[0] - b.low[0], b.high[1] - b.low[1]));
  }
  if (s->has_level && !s->is_planar) {
    double corner[4][3];
    od_draw_floor(s, corner);
    for (int i = 0; i < 4; i++) include(&b, od_dot3(corner[i], d.across), od_dot3(corner[i], d.up), 0);
  }
  double margin = 28, foot = s->has_level && s->is_planar ? 12 : 34;
  double wide = fmax(b.high[0] - b.low[0], 1e-9 * s->size), high = fmax(b.high[1] - b.low[1], 1e-9 * s->size);
  d.scale = fmin((WIDTH - 2 * margin) / wide, (HEIGHT - margin - foot) / high);
  d.width = WIDTH;
  d.height = fmin(HEIGHT, fmax(0.3 * WIDTH, d.scale * high + margin + foot));
  d.x = WIDTH / 2.0 - d.scale * (b.low[0] + b.high[0]) / 2;
  d.y = d.height - foot - (d.height - margin - foot - d.scale * high) / 2 + d.scale * b.low[1];
  if (foot < 20) d.y = d.height - foot + d.scale * b.low[1];
  fprintf(
      to,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"scene\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
      d.width, d.height);
  od_xml_text(to, od_machine_title(s->machine));
  if (picture->is_alone) fprintf(to, "\" width=\"%.0f\" height=\"%.0f", d.width, d.height);
  fputs("\">\n", to);
  if (picture->is_alone) fprintf(to, "<style>%s</style>\n", od_scene_style());
  draw_ground(&d);
  if (s->is_planar)
    draw_plane(&d);
  else
    od_draw_space(&d);
  draw_gaps(&d);
  if (d.names) draw_names(&d);
  draw_scale(&d);
  fputs("</svg>\n", to);
}

void od_scene_svg(const od_scene *s, const double *value, FILE *to) {
  od_scene_svg_with(s, value, &(od_scene_picture){0}, to);
}

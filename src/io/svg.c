#include "io/svg.h"

#include "io/number.h"

// A tenth of a pixel is finer than any screen.
enum { decimals = 1 };

static void write_attribute(FILE *to, const char *name, double value) {
  char text[OD_NUMBER_SIZE];
  od_number_fixed(text, value, decimals);
  fprintf(to, " %s=\"%s\"", name, text);
}

// Markup characters are escaped; control characters, which XML forbids, are left out.
static void write_escaped(FILE *to, const char *text) {
  for (; *text; text++) {
    switch (*text) {
      case '&': fputs("&amp;", to); break;
      case '<': fputs("&lt;", to); break;
      case '>': fputs("&gt;", to); break;
      case '"': fputs("&quot;", to); break;
      default:
        if ((unsigned char)*text >= ' ') fputc(*text, to);
    }
  }
}

void od_svg_begin(FILE *to, double width, double height, const char *title, const char *style) {
  fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", to);
  write_attribute(to, "width", width);
  write_attribute(to, "height", height);
  fprintf(to, " viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>", width, height);
  write_escaped(to, title);
  fprintf(to, "</title>\n<style>%s</style>\n", style);
}

void od_svg_end(FILE *to) {
  fputs("</svg>\n", to);
}

void od_svg_line(FILE *to, const char *class_name, double x0, double y0, double x1, double y1) {
  fprintf(to, "<line class=\"%s\"", class_name);
  write_attribute(to, "x1", x0);
  write_attribute(to, "y1", y0);
  write_attribute(to, "x2", x1);
  write_attribute(to, "y2", y1);
  fputs("/>\n", to);
}

void od_svg_rectangle(FILE *to, const char *class_name, double x, double y, double width, double height) {
  fprintf(to, "<rect class=\"%s\"", class_name);
  write_attribute(to, "x", x);
  write_attribute(to, "y", y);
  write_attribute(to, "width", width);
  write_attribute(to, "height", height);
  fputs("/>\n", to);
}

static void end_circle(FILE *to, double x, double y, double radius) {
  write_attribute(to, "cx", x);
  write_attribute(to, "cy", y);
  write_attribute(to, "r", radius);
  fputs("/>\n", to);
}

void od_svg_dot(FILE *to, const char *fill, double x, double y, double radius) {
  fprintf(to, "<circle fill=\"%s\"", fill);
  end_circle(to, x, y, radius);
}

void od_svg_ring(FILE *to, const char *stroke, double x, double y, double radius) {
  fprintf(to, "<circle class=\"ring\" stroke=\"%s\"", stroke);
  end_circle(to, x, y, radius);
}

static void begin_text(FILE *to, const char *class_name, double x, double y, const char *anchor) {
  fprintf(to, "<text class=\"%s\" text-anchor=\"%s\"", class_name, anchor);
  write_attribute(to, "x", x);
  write_attribute(to, "y", y);
  fputc('>', to);
}

void od_svg_text(FILE *to, const char *class_name, double x, double y, const char *anchor, const char *text) {
  begin_text(to, class_name, x, y, anchor);
  write_escaped(to, text);
  fputs("</text>\n", to);
}

void od_svg_label(FILE *to, double x, double y, const char *name, const char *note) {
  begin_text(to, "name", x, y, "start");
  write_escaped(to, name);
  fputs("<tspan class=\"note\" dx=\"6\">", to);
  write_escaped(to, note);
  fputs("</tspan></text>\n", to);
}

void od_svg_curve_begin(FILE *to, const char *colour) {
  fprintf(to, "<path class=\"curve\" stroke=\"%s\" d=\"", colour);
}

void od_svg_curve_point(FILE *to, bool first, double x, double y) {
  char a[OD_NUMBER_SIZE], b[OD_NUMBER_SIZE];
  od_number_fixed(a, x, decimals);
  od_number_fixed(b, y, decimals);
  fprintf(to, "%c%s %s", first ? 'M' : 'L', a, b);
}

void od_svg_curve_end(FILE *to) {
  fputs("\"/>\n", to);
}

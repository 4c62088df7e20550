#include "io/svg.h"

#include <string.h>

#include "io/number.h"
#include "io/utf8.h"

// A tenth of a pixel is below the resolution of screens.
enum { decimals = 1 };

static void write_attribute(FILE *to, const char *name, double value) {
  char text[OD_NUMBER_SIZE];
  od_number_fixed(text, value, decimals);
  fprintf(to, " %s=\"%s\"", name, text);
}

static void write_shape(FILE *to, const char *shape, const char *class_name, int count, const char *const *name,
                        const double *value) {
  fprintf(to, "<%s class=\"%s\"", shape, class_name);
  for (int i = 0; i < count; i++) write_attribute(to, name[i], value[i]);
  fputs("/>\n", to);
}

void od_xml_text(FILE *to, const char *text) {
  od_xml_part(to, text, strlen(text));
}

void od_xml_part(FILE *to, const char *text, size_t left) {
  while (left > 0) {
    size_t length = od_utf8_length((const unsigned char *)text, left);
    switch (*text) {
      case '&': fputs("&amp;", to); break;
      case '<': fputs("&lt;", to); break;
      case '>': fputs("&gt;", to); break;
      case '"': fputs("&quot;", to); break;
      default:
        // U+FFFE and U+FFFF are valid UTF-8, but not allowed in XML.
        if (length == 0 || !strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3))
          fputc('?', to), length = length ? length : 1;
        else
          fwrite(text, 1, length, to);
    }
    text += length;
    left -= length;
  }
}

void od_svg_begin(FILE *to, double width, double height, const char *title, const char *style) {
  fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", to);
  write_attribute(to, "width", width);
  write_attribute(to, "height", height);
  fprintf(to, " viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>", width, height);
  od_xml_text(to, title);
  fprintf(to, "</title>\n<style>%s</style>\n", style);
}

void od_svg_end(FILE *to) {
  fputs("</svg>\n", to);
}

void od_svg_line(FILE *to, const char *class_name, double x0, double y0, double x1, double y1) {
  static const char *const names[] = {"x1", "y1", "x2", "y2"};
  write_shape(to, "line", class_name, 4, names, (const double[]){x0, y0, x1, y1});
}

void od_svg_rectangle(FILE *to, const char *class_name, double x, double y, double width, double height) {
  static const char *const names[] = {"x", "y", "width", "height"};
  write_shape(to, "rect", class_name, 4, names, (const double[]){x, y, width, height});
}

void od_svg_circle(FILE *to, const char *class_name, double x, double y, double radius) {
  static const char *const names[] = {"cx", "cy", "r"};
  write_shape(to, "circle", class_name, 3, names, (const double[]){x, y, radius});
}

static void begin_text(FILE *to, const char *class_name, double x, double y, const char *anchor) {
  fprintf(to, "<text class=\"%s\" text-anchor=\"%s\"", class_name, anchor);
  write_attribute(to, "x", x);
  write_attribute(to, "y", y);
  fputc('>', to);
}

void od_svg_text(FILE *to, const char *class_name, double x, double y, const char *anchor, const char *text) {
  begin_text(to, class_name, x, y, anchor);
  od_xml_text(to, text);
  fputs("</text>\n", to);
}

void od_svg_label(FILE *to, double x, double y, const char *name, const char *note) {
  begin_text(to, "name", x, y, "start");
  od_xml_text(to, name);
  fputs("<tspan class=\"note\" dx=\"6\">", to);
  od_xml_text(to, note);
  fputs("</tspan></text>\n", to);
}

void od_svg_path_begin(FILE *to, const char *class_name, const char *name) {
  fprintf(to, "<path class=\"%s\"", class_name);
  if (name) {
    fputs(" data-name=\"", to);
    od_xml_text(to, name);
    fputc('"', to);
  }
  fputs(" d=\"", to);
}

void od_svg_path_point(FILE *to, char how, double x, double y) {
  char a[OD_NUMBER_SIZE], b[OD_NUMBER_SIZE];
  od_number_fixed(a, x, decimals);
  od_number_fixed(b, y, decimals);
  fprintf(to, "%c%s %s", how, a, b);
}

void od_svg_path_end(FILE *to) {
  fputs("\"/>\n", to);
}

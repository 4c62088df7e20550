// A small SVG writer with the shapes that charts need.
#ifndef OD_SVG_H
#define OD_SVG_H

#include <stdbool.h>
#include <stdio.h>

// Writes a text with escaped markup characters, for content and attributes. Bytes that are not UTF-8 become '?'.
void od_xml_text(FILE *to, const char *text);
// Same as od_xml_text(), for the first `length` bytes of a text.
void od_xml_part(FILE *to, const char *text, size_t length);

// CSS for drawings: a part for texts, and a part for curves with the classes c0 to c7 for their colors.
enum { OD_SVG_COLORS = 8 };
#define OD_SVG_TEXT_STYLE                                                                                      \
  "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;fill:#3d4654}" \
  ".title{font-size:21px;font-weight:600;fill:#1c2430}.subtitle{font-size:13.5px;fill:#6b7685}"                \
  ".name{font-size:13.5px;font-weight:600}.note{font-weight:400;fill:#6b7685}.tick{font-size:12px}"
#define OD_SVG_CURVE_STYLE                                                       \
  ".curve{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}" \
  ".c0{color:#1769d1}.c1{color:#d1490c}.c2{color:#23823b}.c3{color:#8e36ad}"     \
  ".c4{color:#0b7a8f}.c5{color:#c22a4b}.c6{color:#8a6d00}.c7{color:#4f46c8}"

// Begin and end a drawing. style: CSS.
void od_svg_begin(FILE *to, double width, double height, const char *title, const char *style);
void od_svg_end(FILE *to);

// Write a shape of a class of the drawing's CSS. Coordinates and lengths are in pixels; y points down.
void od_svg_line(FILE *to, const char *class_name, double x0, double y0, double x1, double y1);
void od_svg_rectangle(FILE *to, const char *class_name, double x, double y, double width, double height);
void od_svg_circle(FILE *to, const char *class_name, double x, double y, double radius);
// Writes a text with escaped characters; anchor is "start", "middle" or "end".
void od_svg_text(FILE *to, const char *class_name, double x, double y, const char *anchor, const char *text);
// Writes a name in bold, then a note in a lighter tone, on one line.
void od_svg_label(FILE *to, double x, double y, const char *name, const char *note);

// Write a path: its start, its points in order ('M': start a new line at this point, 'L': continue the line), and its
// end. The name is stored in the file; NULL: none.
void od_svg_path_begin(FILE *to, const char *class_name, const char *name);
void od_svg_path_point(FILE *to, char how, double x, double y);
void od_svg_path_end(FILE *to);

#endif

# Writes all files of the folder templates as a C source: cmake -DFROM=templates -DTO=embedded_templates.c -P embed-templates.cmake
file(GLOB folders RELATIVE ${FROM} ${FROM}/*)
list(SORT folders)
set(arrays)
set(rows)
set(number 0)
foreach(folder ${folders})
  if(NOT IS_DIRECTORY ${FROM}/${folder})
    continue()
  endif()
  file(GLOB files RELATIVE ${FROM}/${folder} ${FROM}/${folder}/*)
  list(SORT files)
  foreach(name ${files})
    file(READ ${FROM}/${folder}/${name} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char file_${number}[] = {\n${bytes}\n0};\n")
    string(APPEND rows "  {\"${folder}\", \"${name}\", file_${number}, sizeof file_${number} - 1},\n")
    math(EXPR number "${number} + 1")
  endforeach()
endforeach()
file(STRINGS ${FROM}/default.txt default LIMIT_COUNT 1)
file(WRITE ${TO} "// The files of the folder templates; made by scripts/embed-templates.cmake.
#include \"jobs/embedded_templates.h\"

#include <stddef.h>

const char *const od_template_default = \"${default}\";

${arrays}
const od_template_file od_template_files[] = {\n${rows}  {NULL, NULL, NULL, 0},\n};\n")

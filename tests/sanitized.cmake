# Quick tests with the address and undefined-behavior sanitizers, as part of `make test`: ctest -L sanitized. The library, the program and the tests
# below are compiled a second time; the test unit.io.csv becomes sanitized.unit.io.csv. `make sanitize` runs all tests in this way.
include(CheckCSourceCompiles)
set(sanitizers -fsanitize=address,undefined,float-cast-overflow)
set(CMAKE_REQUIRED_FLAGS ${sanitizers})
check_c_source_compiles("int main(void) { return 0; }" OD_HAS_SANITIZERS)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT OD_HAS_SANITIZERS)
  add_test(NAME sanitized COMMAND sh -c "echo 'skipped: not possible: the compiler has no address and undefined-behavior sanitizers'; exit 77")
  set_tests_properties(sanitized PROPERTIES LABELS sanitized SKIP_RETURN_CODE 77)
  return()
endif()

# The optimization and NDEBUG of the build type come first on the command line, so these options override them.
add_library(sanitized_flags INTERFACE)
target_link_libraries(sanitized_flags INTERFACE od_flags)
target_compile_options(sanitized_flags INTERFACE ${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1 -UNDEBUG)
target_link_options(sanitized_flags INTERFACE ${sanitizers})

file(GLOB helpers CONFIGURE_DEPENDS oracle/*.c support/*.c)
list(FILTER helpers EXCLUDE REGEX "/test_[^/]*$")
add_library(sanitized_library STATIC ${core_sources} ${tool_sources} ${helpers})
target_link_libraries(sanitized_library PRIVATE sanitized_flags od_tool_settings PUBLIC od_tool_libraries ${sundials})
target_include_directories(sanitized_library PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(sanitized_library PRIVATE OD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_executable(sanitized_program ${cli_sources})
target_link_libraries(sanitized_program PRIVATE sanitized_flags sanitized_library)
set_target_properties(sanitized_program PROPERTIES OUTPUT_NAME oleodyn RUNTIME_OUTPUT_DIRECTORY sanitized)
add_executable(sanitized_mat ${mat_sources})
target_link_libraries(sanitized_mat PRIVATE sanitized_flags sanitized_library PkgConfig::matio PkgConfig::hdf5)
target_link_options(sanitized_mat PRIVATE LINKER:--as-needed)
set_target_properties(sanitized_mat PROPERTIES OUTPUT_NAME oleodyn-mat RUNTIME_OUTPUT_DIRECTORY sanitized)
add_dependencies(sanitized_program sanitized_mat)
if(fmu_libraries_FOUND)
  add_executable(sanitized_fmu ${fmu_sources})
  target_link_libraries(sanitized_fmu PRIVATE sanitized_flags sanitized_library PkgConfig::fmu_libraries)
  set_target_properties(sanitized_fmu PROPERTIES OUTPUT_NAME oleodyn-fmu RUNTIME_OUTPUT_DIRECTORY sanitized)
  add_dependencies(sanitized_program sanitized_fmu)
endif()

# The twin, where it is built.
if(TARGET oleodyn_server)
  add_library(sanitized_server STATIC ${server_sources})
  target_compile_definitions(sanitized_server PUBLIC ${twin_definitions})
  target_link_libraries(sanitized_server PRIVATE sanitized_flags PUBLIC sanitized_library ${twin_libraries})
  add_executable(sanitized_twin ${twin_main})
  target_link_libraries(sanitized_twin PRIVATE sanitized_flags sanitized_server)
  set_target_properties(sanitized_twin PROPERTIES OUTPUT_NAME oleodyn-twin RUNTIME_OUTPUT_DIRECTORY sanitized)
endif()

# sanitized_test(NAME SOURCES ARGUMENTS...)
function(sanitized_test name sources)
  add_executable(sanitized.${name} ${sources})
  target_link_libraries(sanitized.${name} PRIVATE sanitized_flags sanitized_library PkgConfig::cmocka)
  target_include_directories(sanitized.${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(sanitized.${name} PRIVATE OD_SOURCE_DIR="${PROJECT_SOURCE_DIR}" OD_BINARY="$<TARGET_FILE:sanitized_program>")
  add_dependencies(sanitized.${name} sanitized_program)
  add_test(NAME sanitized.${name} COMMAND sanitized.${name} ${ARGN})
  set_tests_properties(sanitized.${name} PROPERTIES LABELS sanitized SKIP_RETURN_CODE 77
    ENVIRONMENT OLEODYN_HELPERS=$<TARGET_FILE_DIR:sanitized_mat>)
endfunction()

# Wrong files and commands, readers and writers of every format, every class of element and block, steps of integrators and filters, one fit of every
# kind, one experiment, one study.
set(chosen
  base/arena blocks/block_classes blocks/blocks blocks/foreign circuit/diagram_flaws circuit/diagram_memory circuit/diagram_symbols cli/follow cli/info_command
  cli/log_command cli/signals_command cli/wrong_command document/expression document/ranges document/suggest document/units elements/element_numbers
  elements/elements experiment/encoder experiment/load_experiment experiment/load_sensors experiment/reference_columns formats/can_signals formats/can_trace
  formats/csv_shapes formats/csv_stream formats/csv_times formats/dbc formats/hdf5 formats/j1939 formats/mat formats/mdf_columns formats/mdf_damaged formats/mdf_large
  formats/mdf_reader formats/mdf_storage formats/mdf_structure formats/mdf_values formats/table friction/dependence friction_fit/run_model
  identify/fit_constraints identify/fit_data identify/fit_start identify/hammerstein integrate/block_memory integrate/guards integrate/integrators
  integrate/saved_sims integrate/sliding_derivatives integrate/step_and_shift io/atomic_file io/chart io/date_time io/display io/frames io/json io/plot
  io/thin_table least_squares/constraints linear/linear_model logs/log logs/log_files logs/log_lag machine/bad_input machine/constants machine/fmu machine/formula
  machine/load_circuit machine/load_components machine/load_machine machine/look_path machine/steady machine/templates math/dense math/sparse math/spline
  mechanics/partition mechanics/reactions memory/allocator model/build observe/failing_plant observe/filter_family observe/observer observe/saved_observers
  observe/spread plant/balance plant/calibrated plant/edges plant/image plant/own_factors plant/samples plant/wrapped predict/delayed predict/predict prepare/prepare
  report/fit_report report/page report/page_data report/pose_spread requirements/judge result/result scene/scene scene/scene_outline signals/sequence
  signals/signal simulate/divergence simulate/run study/gather study/shared_truth study/tf_case survey/propose_mapping sweep/sweep)
foreach(path ${chosen})
  string(REPLACE "/" "/test_" source ${path})
  string(REPLACE "/" "." name ${path})
  sanitized_test(unit.${name} unit/${source}.c)
endforeach()
if(fmu_libraries_FOUND)
  fmu_test(sanitized.unit.machine.fmu)
endif()
foreach(name logs.log formats.mat formats.table)
  target_link_libraries(sanitized.unit.${name} PRIVATE PkgConfig::matio)
endforeach()
target_link_libraries(sanitized.unit.formats.hdf5 PRIVATE PkgConfig::hdf5)
if(TARGET oleodyn_server)
  foreach(path samples/message samples/queues samples/sample_order sources/can_source sources/sparkplug_payload history/history history/history_reader operation/twin)
    string(REPLACE "/" "/test_" source ${path})
    string(REPLACE "/" "." name ${path})
    sanitized_test(unit.${name} unit/${source}.c)
    target_link_libraries(sanitized.unit.${name} PRIVATE sanitized_server)
    target_compile_definitions(sanitized.unit.${name} PRIVATE OD_TWIN="$<TARGET_FILE:sanitized_twin>")
    add_dependencies(sanitized.unit.${name} sanitized_twin)
  endforeach()
  set_property(TEST sanitized.unit.operation.twin APPEND PROPERTY ENVIRONMENT OD_KILLS=2)
endif()
# The fuzz targets: all seeds and a few changes of them.
foreach(source ${fuzz_sources})
  string(REGEX REPLACE ".*/fuzz_|\\.c$" "" what ${source})
  sanitized_test(fuzz.${what} "${source};fuzz/fuzz.c;fuzz/replay.c" 60 ${${what}_seeds})
  if(what MATCHES "^(messages|request|sparkplug)$")
    target_link_libraries(sanitized.fuzz.${what} PRIVATE sanitized_server)
  endif()
  if(what STREQUAL "fmu")
    target_sources(sanitized.fuzz.fmu PRIVATE ${PROJECT_SOURCE_DIR}/src/helpers/fmu_host/model_description.c)
    target_link_libraries(sanitized.fuzz.fmu PRIVATE PkgConfig::fmu_libraries)
  endif()
endforeach()
# Commands on cases of the project: sanitized_run(NAME ARGUMENTS...). A failed sanitizer ends the program with a code that is not zero.
function(sanitized_run name)
  add_test(NAME sanitized.run.${name} COMMAND sanitized_program ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/cases)
  set_tests_properties(sanitized.run.${name} PROPERTIES LABELS sanitized)
endfunction()
sanitized_run(simulate simulate excavator/machine.yaml --time 0.5)
sanitized_run(simulate_circuit simulate load-sensing/machine.yaml --time 0.1 --csv - --quiet)
sanitized_run(observe observe fourbar-valve/points-3.experiment.yaml --json - --quiet)
sanitized_run(fit fit fin-servo/fit.yaml --json - --quiet)
sanitized_run(friction_fit friction-fit cylinder-friction/cylinders.friction.yaml --variant complete --truth \#1)
sanitized_run(study study fin-servo/study.yaml --seeds 1 --threads 2)
sanitized_run(linearize linearize fin-servo/machine.yaml)
sanitized_run(bode bode fin-servo/machine.yaml)
sanitized_run(tf tf fin-servo/machine.yaml)
sanitized_run(equilibrium equilibrium crane/machine.yaml)
sanitized_run(friction friction lugre --set Fs=700 --set Fc=65 --set vs=0.02 --set sigma_0=2e7 --show hysteresis)
sanitized_run(components components --markdown)

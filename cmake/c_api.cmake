# The functions of rocksdb/c.h for plain options, written from src/c_api/options.table.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(COMPASSDB_C_OPTIONS_GENERATOR ${CMAKE_SOURCE_DIR}/src/c_api/generate.py)
set(COMPASSDB_C_OPTIONS_TABLE ${CMAKE_SOURCE_DIR}/src/c_api/options.table)
set(COMPASSDB_C_OPTIONS ${CMAKE_BINARY_DIR}/generated/c_api/options_generated.cc)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/c_api)
add_custom_command(OUTPUT ${COMPASSDB_C_OPTIONS}
  COMMAND ${Python3_EXECUTABLE} ${COMPASSDB_C_OPTIONS_GENERATOR} definitions ${COMPASSDB_C_OPTIONS}
  DEPENDS ${COMPASSDB_C_OPTIONS_GENERATOR} ${COMPASSDB_C_OPTIONS_TABLE} VERBATIM)

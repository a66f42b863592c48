# What `make install` installs (docs/packaging.md). Components: runtime, development, tools; and
# rocksdb-runtime, rocksdb-development, which COMPASSDB_AS_ROCKSDB adds and
# `cmake --install build --component NAME` installs with or without it.
include(CMakePackageConfigHelpers)

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/compassdb)
set(staged ${CMAKE_BINARY_DIR}/packaging)
set(rocksdb_version 7.8.3) # whose interface it is: include/rocksdb/version.h
set(as_rocksdb "EXCLUDE_FROM_ALL")
if(COMPASSDB_AS_ROCKSDB)
  set(as_rocksdb "")
endif()

# compassdb_pkg_config(NAME VERSION INCLUDEDIR COMPONENT): written at install time, when the prefix is known.
function(compassdb_pkg_config PC_NAME PC_VERSION includedir component)
  string(JOIN "\n" settings
    "set(PC_NAME ${PC_NAME})"
    "set(PC_VERSION ${PC_VERSION})"
    "cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE)"
    "set(PC_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")"
    "cmake_path(ABSOLUTE_PATH PC_LIBDIR BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")"
    "set(PC_INCLUDEDIR \"${includedir}\")"
    "cmake_path(ABSOLUTE_PATH PC_INCLUDEDIR BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")"
    "set(COMPASSDB_PC_REQUIRES \"${COMPASSDB_PC_REQUIRES}\")"
    "set(COMPASSDB_PC_LIBS \"${COMPASSDB_PC_LIBS}\")"
    "configure_file(\"${CMAKE_SOURCE_DIR}/packaging/pkgconfig.pc.in\" \"${staged}/${PC_NAME}.pc\" @ONLY)")
  set(exclude "")
  if(component MATCHES rocksdb)
    set(exclude ${as_rocksdb})
  endif()
  install(CODE "${settings}" COMPONENT ${component} ${exclude})
  install(FILES ${staged}/${PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component} ${exclude})
endfunction()

# compassdb_cmake_config(FILE FOLDER VERSION COMPATIBILITY): the file, from the variables CONFIG_*.
function(compassdb_cmake_config package folder version compatibility)
  configure_package_config_file(packaging/config.cmake.in ${staged}/${package}
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/${folder}
    PATH_VARS CONFIG_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  string(REPLACE Config.cmake ConfigVersion.cmake version_file ${package})
  string(REPLACE -config.cmake -config-version.cmake version_file ${version_file})
  write_basic_package_version_file(${staged}/${version_file} VERSION ${version} COMPATIBILITY ${compatibility})
endfunction()

# --- compassdb -------------------------------------------------------------
install(TARGETS compassdb
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS compassdb_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/rocksdb include/compassdb DESTINATION ${headers} COMPONENT development
  FILES_MATCHING PATTERN "*.h")
compassdb_pkg_config(compassdb ${PROJECT_VERSION} ${headers} development)

set(CONFIG_INCLUDEDIR ${headers})
set(CONFIG_SHARED compassdb::compassdb)
set(CONFIG_STATIC compassdb::compassdb_static)
set(CONFIG_SHARED_FILE libcompassdb.so)
set(CONFIG_STATIC_FILE libcompassdb.a)
set(CONFIG_SONAME libcompassdb.so.${COMPASSDB_ABI})
compassdb_cmake_config(compassdb-config.cmake compassdb ${PROJECT_VERSION} SameMinorVersion)
install(FILES ${staged}/compassdb-config.cmake ${staged}/compassdb-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/compassdb COMPONENT development)

# --- as librocksdb -----------------------------------------------------------
# One engine under several names: librocksdb.so is a link, so that what is built with it names
# libcompassdb.so; the names that programs built with RocksDB ask for are libraries of
# that SONAME (ldconfig uses it) that hold nothing and need libcompassdb.so next to them.
foreach(soversion 7 7.8)
  set(target rocksdb_name_${soversion})
  add_library(${target} SHARED packaging/rocksdb_name.c)
  target_link_options(${target} PRIVATE LINKER:--no-as-needed)
  target_link_libraries(${target} PRIVATE compassdb)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME rocksdb SUFFIX .so.${soversion} NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${staged} INSTALL_RPATH "$ORIGIN")
  target_link_options(${target} PRIVATE LINKER:-soname,librocksdb.so.${soversion})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT rocksdb-runtime ${as_rocksdb})
endforeach()

file(CREATE_LINK libcompassdb.so ${staged}/librocksdb.so SYMBOLIC)
file(CREATE_LINK libcompassdb.a ${staged}/librocksdb.a SYMBOLIC)
install(FILES ${staged}/librocksdb.so ${staged}/librocksdb.a DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT rocksdb-development ${as_rocksdb})
install(DIRECTORY include/rocksdb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT rocksdb-development ${as_rocksdb}
  FILES_MATCHING PATTERN "*.h")
compassdb_pkg_config(rocksdb ${rocksdb_version} ${CMAKE_INSTALL_INCLUDEDIR} rocksdb-development)

set(CONFIG_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
set(CONFIG_SHARED RocksDB::rocksdb-shared)
set(CONFIG_STATIC RocksDB::rocksdb)
set(CONFIG_SHARED_FILE librocksdb.so)
set(CONFIG_STATIC_FILE librocksdb.a)
compassdb_cmake_config(RocksDBConfig.cmake rocksdb ${rocksdb_version} SameMajorVersion)
install(FILES ${staged}/RocksDBConfig.cmake ${staged}/RocksDBConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rocksdb COMPONENT rocksdb-development ${as_rocksdb})

# --- tools -------------------------------------------------------------------
if(COMPASSDB_TOOLS)
  install(TARGETS compassdb-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(TARGETS compassdb-rocksdb-reader RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  if(TARGET compassdb-rocksdb-writer)
    install(TARGETS compassdb-rocksdb-reader-of-all compassdb-rocksdb-writer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endif()
endif()

# What `make install` builds.
add_custom_target(installed DEPENDS compassdb compassdb_static rocksdb_name_7 rocksdb_name_7.8)
foreach(tool compassdb-cli compassdb-rocksdb-reader compassdb-rocksdb-reader-of-all compassdb-rocksdb-writer)
  if(TARGET ${tool})
    add_dependencies(installed ${tool})
  endif()
endforeach()

# --- licence, by Debian package ------------------------------------------------
set(packages runtime libcompassdb${COMPASSDB_ABI} development libcompassdb-dev tools compassdb-tools
  rocksdb-runtime compassdb-as-rocksdb rocksdb-development compassdb-as-rocksdb-dev)
while(packages)
  list(POP_FRONT packages component package)
  set(exclude "")
  if(component MATCHES rocksdb)
    set(exclude ${as_rocksdb})
  endif()
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright COMPONENT ${component} ${exclude})
endwhile()

include(cmake/debian.cmake)

# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD=... -DPREFIX=... [-DCOMPONENTS=...] -P install.cmake: installs afresh into PREFIX,
# libraries and headers under both names unless COMPONENTS says otherwise.
if(NOT COMPONENTS)
  set(COMPONENTS runtime development rocksdb-runtime rocksdb-development)
endif()
file(REMOVE_RECURSE ${PREFIX})
foreach(component ${COMPONENTS})
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --component ${component}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# The target "docs" writes the API reference to build/docs; api_docs_test in tests/ checks it.
find_program(AMBIT_DOXYGEN doxygen)
find_program(AMBIT_DOCS_PYTHON python3)
mark_as_advanced(AMBIT_DOXYGEN AMBIT_DOCS_PYTHON)
if(NOT AMBIT_DOXYGEN OR NOT AMBIT_DOCS_PYTHON)
  add_custom_target(docs
    COMMAND ${CMAKE_COMMAND} -E echo
      "docs: expected doxygen and python3 (apt-get install doxygen), then configure again"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  return()
endif()

set(AMBIT_DOCS_OUTPUT ${PROJECT_SOURCE_DIR}/build/docs)
set(docs_input ${PROJECT_BINARY_DIR}/docs_input)
configure_file(docs/reference/Doxyfile.in docs/Doxyfile @ONLY)
add_custom_target(docs
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${AMBIT_DOCS_OUTPUT} ${docs_input}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${AMBIT_DOCS_OUTPUT} ${docs_input}
  COMMAND ${AMBIT_DOCS_PYTHON} -B ${PROJECT_SOURCE_DIR}/docs/reference/prepare.py
    ${PROJECT_SOURCE_DIR} ${docs_input}
  COMMAND ${CMAKE_COMMAND} -E chdir ${docs_input} ${AMBIT_DOXYGEN} ${PROJECT_BINARY_DIR}/docs/Doxyfile
  COMMENT "Writing the API reference to ${AMBIT_DOCS_OUTPUT}/index.html"
  USES_TERMINAL VERBATIM)

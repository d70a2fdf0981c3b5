# ambit.pc and ambit-torch.pc, for programs that are built with pkg-config.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE pc_to_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR
  BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE prefix_to_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
  BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE prefix_to_includedir)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ambit.pc.in ambit.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ambit-torch.pc.in ambit-torch.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ambit.pc ${PROJECT_BINARY_DIR}/ambit-torch.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ambit_dev)

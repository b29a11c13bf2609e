# What a user links: tarry::tarry (all engines) and tarry::embedded (memory: and file: only), each
# one archive made of the modules' objects, so that nothing of our inner cut shows outside; and the
# same objects as shared libraries, tarry::tarry_shared and tarry::embedded_shared.

# tarry_library(<component> NAME <file name> MODULES <module>... [LIBS <target>...])
function(tarry_library component)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "MODULES;LIBS")
  set(objects "")
  foreach(module IN LISTS arg_MODULES)
    if(TARGET tarry_${module})
      get_target_property(type tarry_${module} TYPE)
      if(type STREQUAL "STATIC_LIBRARY")
        list(APPEND objects $<TARGET_OBJECTS:tarry_${module}>)
      endif()
    endif()
  endforeach()
  if(NOT objects)
    return()
  endif()
  set(target tarry_lib_${component})
  add_library(${target} STATIC ${objects})
  add_library(tarry::${component} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${arg_NAME} EXPORT_NAME ${component} LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${arg_LIBS} PUBLIC Threads::Threads)

  set(shared ${target}_shared)
  tarry_installed(${target} ${shared})
  set(map ${PROJECT_SOURCE_DIR}/cmake/tarry.map)
  add_library(${shared} SHARED ${objects})
  add_library(tarry::${component}_shared ALIAS ${shared})
  # Before 1.0 a minor version may break its users.
  set_target_properties(${shared} PROPERTIES
    OUTPUT_NAME ${arg_NAME} EXPORT_NAME ${component}_shared LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LINK_DEPENDS ${map})
  target_compile_features(${shared} INTERFACE cxx_std_20)
  target_include_directories(${shared} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_options(${shared} PRIVATE LINKER:--version-script=${map})
  target_link_libraries(${shared} PRIVATE ${arg_LIBS} PUBLIC Threads::Threads)

  # What a plugin that links the archive shows of it to others: nothing.
  target_link_options(${target} INTERFACE LINKER:--exclude-libs,lib${arg_NAME}.a)

  if(TARRY_INSTALL)
    tarry_install_library(${component} ${arg_NAME} LIBS ${arg_LIBS})
  endif()
endfunction()

# tarry_install_library(<component> <file name> [LIBS <target>...]): with its files for CMake and
# pkg-config.
function(tarry_install_library component name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBS")
  set(target tarry_lib_${component})
  set(installed ${target} ${target}_shared)
  # A portable build's archive would need the C++ libraries of the machine that built it.
  if(TARRY_PORTABLE AND component STREQUAL "tarry")
    set(installed ${target}_shared)
  endif()
  install(TARGETS ${installed} EXPORT tarry_${component}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tarry_${component} NAMESPACE tarry:: FILE tarry-${component}-targets.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tarry)

  # Relative to the .pc file itself, so that what was installed may be moved.
  cmake_path(APPEND pc_dir "/prefix" ${CMAKE_INSTALL_LIBDIR} pkgconfig)
  file(RELATIVE_PATH TARRY_PC_UP ${pc_dir} /prefix)
  string(REPLACE "_" "-" TARRY_PC_NAME ${name})
  set(TARRY_PC_LIBS "-l${name} -Wl,--exclude-libs,lib${name}.a")
  set(TARRY_PC_PRIVATE "-pthread")
  if(TARRY_PORTABLE)  # only the shared library is installed, which names what it needs itself
    set(arg_LIBS "")
  endif()
  foreach(lib IN LISTS arg_LIBS)
    string(REGEX REPLACE "^Boost::" "-lboost_" flag ${lib})
    string(REPLACE "hiredis::hiredis" "-lhiredis" flag ${flag})
    string(REPLACE "OpenSSL::SSL" "-lssl -lcrypto" flag ${flag})
    string(REPLACE "rabbitmq::rabbitmq" "-lrabbitmq" flag ${flag})
    string(APPEND TARRY_PC_PRIVATE " ${flag}")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tarry.pc.in
                 ${PROJECT_BINARY_DIR}/${TARRY_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${TARRY_PC_NAME}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# The headers, the program, and what find_package(tarry) reads.
function(tarry_install)
  include(CMakePackageConfigHelpers)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/tarry-config.cmake.in ${PROJECT_BINARY_DIR}/tarry-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tarry)
  # Before 1.0 a minor version may break its users.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/tarry-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tarry-config.cmake
                ${PROJECT_BINARY_DIR}/tarry-config-version.cmake
                ${PROJECT_SOURCE_DIR}/cmake/TarryHiredis.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tarry)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tarry DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  if(TARGET tarry)
    install(TARGETS tarry RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    # Not LIBDIR: systemd looks into no lib64 and no lib/x86_64-linux-gnu.
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/systemd/tarry.service
                  ${PROJECT_SOURCE_DIR}/packaging/systemd/tarry.socket
            DESTINATION lib/systemd/system)
    tarry_installed(tarry)
  endif()
endfunction()

# tarry_installed(<target>...): the target tarry_installed makes them, and so all that
# `cmake --install` wants.
function(tarry_installed)
  if(NOT TARGET tarry_installed)
    add_custom_target(tarry_installed)
  endif()
  add_dependencies(tarry_installed ${ARGN})
endfunction()

# hiredis::hiredis: Debian 12's hiredis has no CMake files, only pkg-config's, which a user of the
# installed tarry may not have. Installed beside tarry-config.cmake, which reads it too.

if(NOT TARGET hiredis::hiredis)
  find_path(TARRY_HIREDIS_INCLUDE_DIR hiredis/hiredis.h)
  if(TARRY_PORTABLE)
    find_library(TARRY_HIREDIS_LIBRARY libhiredis.a)
  else()
    find_library(TARRY_HIREDIS_LIBRARY hiredis)
  endif()
  mark_as_advanced(TARRY_HIREDIS_INCLUDE_DIR TARRY_HIREDIS_LIBRARY)
  if(NOT TARRY_HIREDIS_INCLUDE_DIR OR NOT TARRY_HIREDIS_LIBRARY)
    if(NOT CMAKE_FIND_PACKAGE_NAME)
      message(FATAL_ERROR "tarry needs hiredis (Debian: libhiredis-dev)")
    endif()
    set(${CMAKE_FIND_PACKAGE_NAME}_FOUND OFF)
    set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE "needs hiredis (Debian: libhiredis-dev)")
    return()
  endif()
  add_library(hiredis::hiredis UNKNOWN IMPORTED)
  set_target_properties(hiredis::hiredis PROPERTIES
    IMPORTED_LOCATION ${TARRY_HIREDIS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${TARRY_HIREDIS_INCLUDE_DIR})
endif()

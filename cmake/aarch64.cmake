# Builds for aarch64 on another machine, with Debian's cross compiler and libraries of both
# architectures: docs/releasing.md says which packages that needs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(PKG_CONFIG_EXECUTABLE aarch64-linux-gnu-pkg-config)
# The build runs the program, for its manual and completions.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

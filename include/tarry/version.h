// The version of tarry. Before 1.0 a minor version may break its users.
#pragma once

#define TARRY_VERSION_MAJOR 0
#define TARRY_VERSION_MINOR 2
#define TARRY_VERSION_PATCH 0
#define TARRY_VERSION "0.2.0"
/// For comparisons: 10203 is 1.2.3.
#define TARRY_VERSION_NUMBER \
  (TARRY_VERSION_MAJOR * 10000 + TARRY_VERSION_MINOR * 100 + TARRY_VERSION_PATCH)

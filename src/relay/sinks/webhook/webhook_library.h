// libcurl, which a portable build loads.
#pragma once

#include "base/loaded_library.h"

namespace tarry::relay {

/// To be loaded before anything of it is called.
extern const base::LoadedLibrary kCurlLibrary;

}  // namespace tarry::relay

#include "app/output/version.h"

namespace tarry::app {

const char* version_line() noexcept { return "tarry " TARRY_VERSION; }

}  // namespace tarry::app

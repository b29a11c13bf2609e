// UniqueFunction, as the library itself uses it: <tarry/unique_function.h>.
#pragma once

#include <tarry/unique_function.h>

namespace tarry::base {

using tarry::UniqueFunction;

}  // namespace tarry::base

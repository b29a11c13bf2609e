// A queue's settings as lines of a sheet, the same for every command that shows them.
//
// Pure.
#pragma once

#include <tarry/settings.h>

#include "app/output/table.h"

namespace tarry::app {

void add_settings(Sheet& sheet, const QueueSettings& settings);

}  // namespace tarry::app

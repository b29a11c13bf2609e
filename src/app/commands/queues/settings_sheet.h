// A queue's settings as lines of a sheet. Every command that shows settings uses it.
//
// Pure.
#pragma once

#include <tarry/settings.h>

#include "app/output/table.h"

namespace tarry::app {

void add_settings(Sheet& sheet, const QueueSettings& settings);

}  // namespace tarry::app

// tarry cancel --prefix, reschedule --prefix: every message whose key begins so, page by page.
//
// Of scheduled, ready and leased messages: the dead are for `tarry dead`, and are left alone.
//
// Thread safety: one thread at a time.
#pragma once

#include <optional>
#include <string>

#include <tarry/time.h>

#include "app/session.h"

namespace tarry::app {

struct PrefixVerb {
  std::string queue;
  std::string prefix;
  std::optional<Due> due;  // reschedule to then; empty: cancel
  bool dry_run = false;    // only count
  bool yes = false;        // even where every message of the queue matches
};

[[nodiscard]] ExitCode run_on_prefix(Session& session, const PrefixVerb& verb);

}  // namespace tarry::app

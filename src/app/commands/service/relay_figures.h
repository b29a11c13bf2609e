// What a server's relays say of themselves, for its metrics.
//
// Pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/relays/relays.h"
#include "server/metrics/relay_figures.h"

namespace tarry::app {

using PatternsOfRelays = std::map<std::string, std::vector<std::string>>;  // by the relay's name

[[nodiscard]] PatternsOfRelays patterns_of(const std::vector<RelayPlan>& plans);

[[nodiscard]] std::vector<metrics::RelayFigures> figures_of(const Relays& relays,
                                                            const PatternsOfRelays& patterns);

}  // namespace tarry::app

// How GoogleTest prints tarry's words.
#pragma once

#include <ostream>

#include <tarry/message.h>
#include <tarry/result.h>

namespace tarry {

inline void PrintTo(Outcome outcome, std::ostream* out) { *out << to_string(outcome); }
inline void PrintTo(State state, std::ostream* out) { *out << to_string(state); }
inline void PrintTo(ErrorCode code, std::ostream* out) { *out << to_string(code); }
inline void PrintTo(IfExists rule, std::ostream* out) { *out << to_string(rule); }

inline void PrintTo(const Error& error, std::ostream* out) {
  *out << to_string(error.code) << ": " << error.message;
}

inline void PrintTo(const Settlement& settlement, std::ostream* out) {
  *out << to_string(settlement.how) << " at " << settlement.when.time_since_epoch().count();
}

inline void PrintTo(const Answer& answer, std::ostream* out) {
  *out << to_string(answer.outcome);
  if (answer.due) *out << ", due " << answer.due->time_since_epoch().count();
  if (answer.settlement) {
    *out << ", ";
    PrintTo(*answer.settlement, out);
  }
}

inline void PrintTo(const Tallies& tallies, std::ostream* out) {
  *out << "claims " << tallies.claims << ", run-outs " << tallies.run_outs << ", releases "
       << tallies.releases << ", buries " << tallies.buries << ", revives " << tallies.revives;
}

}  // namespace tarry

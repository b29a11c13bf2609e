#include <algorithm>
#include <array>
#include <string_view>

#include "command_line.h"

namespace tarry::contract {
namespace {

struct Skip {
  std::string_view suite;
  std::string_view test;  // the beginning of its name
  std::string_view why;
};

constexpr std::string_view kZeroByte = "a word of a command ends at a zero byte";
constexpr std::string_view kMany = "thousands of messages, a process each";
constexpr std::string_view kByKey = "claims by key and moves are between engines: no command";
constexpr std::string_view kNegative = "no duration of a command is negative: refused on its own";

constexpr std::array kSkips = {
    Skip{"Batches", "EmptyOnesAnswerNothing", "a command is about something"},
    Skip{"Batches", "AsManyAsTheLimit", kMany},
    Skip{"Batches", "OneMoreThanTheLimit", kMany},
    Skip{"ByKey", "AClaim", kByKey},
    Skip{"ByKey", "AReleased", kByKey},
    Skip{"ByKey", "AMove", kByKey},
    Skip{"ByKey", "MovedAway", kByKey},
    Skip{"ByKey", "WhatStillIsAsItWasSeen", kByKey},
    Skip{"ByKey", "AForecastOfManyBuckets", kMany},
    Skip{"ClaimSize", "IsAtMost64MiB", "one line of an answer would have 64 MiB"},
    Skip{"Expiry", "IsNoObstacleForAClaimByKey", kByKey},
    Skip{"Expiry", "OneThatWasOverIsThereUntilTheEnd", "a command pushes messages one by one"},
    Skip{"Limits", "Delays", kNegative},
    Skip{"Limits", "Moments", "milliseconds before 2001 are refused: they look like seconds"},
    Skip{"Limits", "LeasesOfClaims", kNegative},
    Skip{"Limits", "ClaimOptionsAsAWhole", kNegative},
    Skip{"Limits", "QueuesOfAClaim", "a command is about something"},
    Skip{"Limits", "RetryDelays", kNegative},
    Skip{"Limits", "WhatHasNoEffect", "such a flag is unknown to the command"},
    Skip{"Limits", "BytesOfAGet", "the command gets each key on its own"},
    Skip{"Limits", "Settings", kNegative},
    Skip{"Limits", "Lists", "a command shows more than a page holds, page by page"},
    Skip{"Listing", "OfTheWhole", "no flag of the command asks for it"},
    Skip{"SettleAndClaim", "", "no command settles and claims"},
    Skip{"Settling", "AReceiptThatNobodyGave", kZeroByte},
    Skip{"Surface", "", "handles, callbacks and threads are the library's"},
};

}  // namespace

std::string not_for_command_line(const std::string& suite, const std::string& test) {
  const auto* found = std::ranges::find_if(
      kSkips, [&](const Skip& skip) { return skip.suite == suite && test.starts_with(skip.test); });
  return found == kSkips.end() ? std::string() : std::string(found->why);
}

}  // namespace tarry::contract

// Zone: a time zone of the system's tzdata, by its IANA name ("Europe/Berlin"): which offset the
// local clock has at each moment, also in years beyond those in the file.
//
// The file is read once, when the zone is found. (Format: RFC 8536.)
//
// Immutable and cheap to copy: thread safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "schedule/calendar/zone_rule.h"

namespace tarry::schedule {

class Zone {
 public:
  /// UTC.
  Zone();
  /// Errors: `invalid_argument` for an unknown zone; `not_found` if the system has no tzdata;
  /// `damaged` if the zone's file is not well-formed.
  [[nodiscard]] static Result<Zone> find(std::string_view name);
  /// The zone in the bytes of such a file; nothing if they are not well-formed.
  [[nodiscard]] static std::optional<Zone> parse(std::string_view name, std::string_view bytes);

  [[nodiscard]] const std::string& name() const noexcept { return data_->name; }

  /// The period that contains the moment.
  [[nodiscard]] Period at(UtcSeconds moment) const;

 private:
  struct Change {
    UtcSeconds at;
    std::int64_t offset;  // from then on
  };
  struct Data {
    std::string name;
    std::int64_t first_offset = 0;  // before the first change
    std::vector<Change> changes;
    std::optional<ZoneRule> rule;  // after the last change
  };
  explicit Zone(std::shared_ptr<const Data> data) noexcept : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

}  // namespace tarry::schedule

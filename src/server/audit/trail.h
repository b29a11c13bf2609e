// Trail: writes acts to the audit log. Without a file it writes nothing, and nothing is recorded.
//
// The lines of an act are written before its answer goes out. A write that fails (the disk is full)
// loses its lines, and changes nothing else.
//
// Thread safety: none; the server's thread owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tarry/time.h>

#include "server/audit/entry.h"
#include "server/audit/file.h"
#include "server/audit/lines.h"
#include "server/audit/recent.h"
#include "server/audit/refusal_throttle.h"

namespace tarry::audit {

using FilePtr = std::shared_ptr<File>;

class Trail {
 public:
  /// What became of the lines of one act.
  struct Written {
    std::uint64_t lines = 0;  // that the file has got
    std::uint64_t lost = 0;
    std::string reason = {};  // why lines were lost
  };

  explicit Trail(FilePtr file) : file_(std::move(file)) {}

  [[nodiscard]] bool is_on() const noexcept { return file_ != nullptr; }
  /// From now on lines go to this file.
  void set_file(FilePtr file) { file_ = std::move(file); }

  [[nodiscard]] Written record(const Entry& entry, const Client& client, const Answer& answer);
  /// The latest lines, including those that a write has lost.
  [[nodiscard]] const Recent& recent() const noexcept { return recent_; }
  /// `peer`: the client's address without its port.
  [[nodiscard]] Written record_refused_token(const Client& client, std::string_view peer,
                                             const Answer& answer);

 private:
  FilePtr file_;
  Recent recent_;
  RefusalThrottle throttle_;
};

}  // namespace tarry::audit

// ForecastSpans: combines the scripts' answers into a forecast. Each shard tells its spans that
// have messages, a page at a time.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/reply.h"
#include "core/request.h"
#include "net/redis/redis.h"

namespace tarry::redis {

class ForecastSpans {
 public:
  /// `request` must outlive this object.
  explicit ForecastSpans(const core::ForecastRequest& request) : request_(request) { clear(); }

  void clear();
  /// Adds the script's arguments: width, spans, where to continue, the most spans to tell, and
  /// when the first one begins.
  void ask(std::uint32_t shard, std::int64_t most, net::RedisCommand& command);
  /// False for an answer that no script of ours gives. Sets `again` to true if the shard has more.
  [[nodiscard]] bool read(std::uint32_t shard, net::RedisView told, bool& again);
  [[nodiscard]] core::ForecastReply& reply() noexcept { return reply_; }

 private:
  // Where the next call to a shard continues, and the moment that its forecast shows.
  struct Cursor {
    std::string moment;
    std::int64_t span = 0;
  };

  const core::ForecastRequest& request_;
  core::ForecastReply reply_;
  std::map<std::uint32_t, Cursor> cursors_;  // by shard
};

}  // namespace tarry::redis

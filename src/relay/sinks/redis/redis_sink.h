// The Redis sink: appends each message to a LIST or a STREAM of a Redis server, or publishes it on
// a channel. All messages are sent on one connection, pipelined, and so arrive in order.
//
//   list     RPUSH NAME line            line: JSON (message_text.h)
//   stream   XADD NAME [MAXLEN ~ n] * queue, id, key, attempt, due_ms, header:NAME..., payload
//   channel  PUBLISH NAME line          at most once: a client that is not subscribed at that
//                                       moment never gets it, but it is confirmed nevertheless
//
// Whether a confirmed message survives a crash of the server depends on the server's persistence.
#pragma once

#include <memory>
#include <string>

#include "net/redis/redis_client.h"
#include "relay/sink.h"

namespace tarry::relay {

struct RedisTarget {
  enum class Kind : std::uint8_t { list, stream, channel };
  Kind kind = Kind::list;
  std::string name;
  std::uint64_t max_length = 0;  // stream only, approximate; 0: no limit
};

[[nodiscard]] std::unique_ptr<Sink> redis_sink(net::RedisOptions server, RedisTarget target);

}  // namespace tarry::relay

// Hosts: starts the servers that the designs of a run need, each when the first design needs it,
// and says where they are. Servers that start fast are started anew for each design, so that no
// design inherits another's memory. RabbitMQ and PostgreSQL keep running, and designs empty their
// queues there.
//
// Thread safety: none. They end with the thread that made them.
#pragma once

#include <memory>
#include <string>

#include "designs/compared.h"
#include "harness/scratch.h"

namespace tarry::bench {

class BeanstalkHost;
class PostgresHost;
class RabbitHost;
class RedisHost;

class Hosts {
 public:
  /// The designs' files are placed below `directory`.
  explicit Hosts(std::string directory);
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  /// Why the design cannot run on this machine: "beanstalkd is not installed"; empty if it can.
  [[nodiscard]] static std::string missing(const Entry& entry);
  /// Starts the servers that the design needs, each with nothing in it, and says where they are.
  Place place(const Entry& entry);

  /// Bytes of memory of the server in which the design's messages are pending; 0 if it has none.
  [[nodiscard]] double server_bytes(const Entry& entry) const;
  /// Bytes of the design's files: tarry's, SQLite's, or the tables of PostgreSQL.
  [[nodiscard]] double disk_bytes(const Entry& entry) const;
  void begin_counting() const;
  /// Commands that Redis has carried out since begin_counting; 0 if the design does not use Redis.
  [[nodiscard]] double redis_commands() const;
  /// Processor time that Redis has taken since begin_counting, in microseconds; 0 if the design
  /// does not use Redis. A busy machine changes this less than it changes rates.
  [[nodiscard]] double redis_us() const;

 private:
  std::string directory_;
  std::unique_ptr<Scratch> scratch_;
  std::unique_ptr<RedisHost> redis_;
  std::unique_ptr<BeanstalkHost> beanstalk_;
  std::unique_ptr<RabbitHost> rabbit_;
  std::unique_ptr<PostgresHost> postgres_;
};

}  // namespace tarry::bench

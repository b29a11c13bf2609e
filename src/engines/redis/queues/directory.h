// Directory: which queues exist, and where their shards live. An entry is kept until a script's
// answer shows that it is no longer true.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tarry/result.h>
#include <tarry/settings.h>

#include "base/unique_function.h"
#include "engines/redis/node/brief_wait.h"
#include "engines/redis/node/server.h"
#include "engines/redis/records/place.h"
#include "engines/redis/records/record.h"

namespace tarry::redis {

/// Settings as META has them: words in QueueSettings' order, separated by spaces. `spell_setting`
/// spells one word.
[[nodiscard]] std::string spell_setting(Millis value);
[[nodiscard]] std::string spell_setting(std::uint32_t value);
[[nodiscard]] std::string spell_setting(IfExists value);
[[nodiscard]] std::string spell_setting(Objective value);
[[nodiscard]] std::string spell_setting(OnExpiry value);
[[nodiscard]] std::string spell_setting(DeliveryRate value);
[[nodiscard]] std::string spell_setting(const Grouping& none);
[[nodiscard]] std::string spell_setting(GroupOrder due);
[[nodiscard]] std::string spell_settings(const QueueSettings& settings);
[[nodiscard]] QueueSettings read_settings(std::string_view text);

/// The error `not_found`, with the queue's name.
[[nodiscard]] Error no_such_queue(std::string_view queue);

class Directory {
 public:
  /// Gets null if there is no such queue.
  using Found = base::UniqueFunction<void(Result<QueuePtr>)>;
  struct Listed {
    std::string queue;
    std::uint32_t shards = 0;  // open shards, which take new keys
  };
  using AllListed = base::UniqueFunction<void(Result<std::vector<Listed>>)>;

  /// `cluster`: a queue's record and its shards may be on different nodes.
  Directory(Server& server, std::uint32_t partitions, std::uint32_t new_shards, bool cluster);

  void find(std::string_view queue, Found done);
  /// Finds the queue, or makes it if it is missing. Errors: `no_space` for one queue too many.
  void make(std::string_view queue, Found done);
  void find_number(std::uint32_t number, Found done);
  /// Lists all queues, sorted by name.
  void list(AllListed done);

  /// The queue, without a request to Redis; null if it is not known here.
  [[nodiscard]] QueuePtr known(const std::string& queue) const;
  /// The known queues whose shards are being changed.
  [[nodiscard]] std::vector<QueuePtr> moving() const;
  /// Forgets everything, because nothing that is known may be true any more.
  void clear();
  /// Forgets the queue, because the known facts about it are no longer true.
  void forget(std::string_view queue);
  /// The same for the facts `refused`. Returns false, and forgets nothing, if newer facts have been
  /// learned since.
  bool forget(const QueuePtr& refused);

  /// A queue's record, and the record's text in the store. `read` gives nothing if there is no such
  /// queue.
  struct Read {
    QueueRecord record;
    std::string text;
  };
  using Recorded = base::UniqueFunction<void(Result<std::optional<Read>>)>;
  void read(std::string_view queue, Recorded done);

  [[nodiscard]] std::uint32_t partitions() const noexcept { return partitions_; }
  /// Of queues that this process makes.
  [[nodiscard]] std::uint32_t new_shards() const noexcept { return new_shards_; }
  /// Whether one script may use the keys of several partitions.
  [[nodiscard]] bool joins_partitions() const noexcept { return !cluster_ || partitions_ == 1; }

 private:
  struct Making;
  // Callers that wait for the same look-up, by queue.
  using Waiting = std::shared_ptr<std::vector<Found>>;
  using Asked = std::unordered_map<std::string, Waiting>;

  bool joins(Asked& asked, const std::string& queue, Found& done);
  /// A look-up: whether it makes a missing queue, and how often the record has changed during it.
  struct Look {
    bool makes = false;
    int tries = 0;
  };
  void ask(std::string_view queue, Look look, Found done);
  void ask_record(std::string_view queue, Look look, Found done);
  /// `place`: scripts/open_queue.lua
  void make_record(std::string_view queue, std::string_view place, Look look, Found done);
  void look_for_shards(std::string name, std::string generation, Look look, Found done);
  void confirm_record(net::RedisReply reply, std::string name, Look look, Found done);
  void confirm_new(net::RedisReply reply, std::string name, Look look, Found done);
  void learn(std::string_view queue, std::string_view text, Look look, Found done);
  void close_shards(const std::shared_ptr<Making>& making);
  void create_shards(const std::shared_ptr<Making>& making);
  void made(const std::shared_ptr<Making>& making);

  Server& server_;
  std::uint32_t partitions_;
  std::uint32_t new_shards_;
  bool cluster_;
  std::unordered_map<std::string, QueuePtr> queues_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::set<std::string> confirmed_;  // queues whose records are on as many replicas as wanted
  BriefWait brief_;                  // for records of new queues
  Asked found_;                      // queues that are being looked for
  Asked made_;
};

}  // namespace tarry::redis

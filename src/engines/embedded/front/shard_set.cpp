#include "engines/embedded/front/shard_set.h"

#include <cstddef>

#include "engines/embedded/shard/requests/part_failure.h"

namespace tarry::embedded {

Error closed_error() { return {ErrorCode::closed, "the store was closed"}; }

void ShardSet::start(std::vector<ShardParts> shards,
                     const std::shared_ptr<const timing::Clock>& clock) {
  for (ShardParts& parts : shards) {
    runners_.push_back(std::make_unique<ShardRunner>(size(), std::move(parts), clock, answers_));
  }
  for (auto& runner : runners_) runner->start();
}

bool ShardSet::post(std::uint32_t shard, Part part) { return runners_[shard]->post(part); }

void ShardSet::send(std::uint32_t shard, Part part) {
  if (!runners_[shard]->post(part)) refuse(part);
}

void ShardSet::send_to_all(const OperationPtr& op) {
  send_some(op, size(), [&](std::uint32_t /*shard*/) {
    std::optional<Part> part(std::in_place);
    part->op = op;
    return part;
  });
}

void ShardSet::send_together(std::vector<std::pair<std::uint32_t, Part>> parts) {
  if (parts.size() == 1) return send(parts.front().first, std::move(parts.front().second));
  std::size_t kept = 0;
  try {
    for (; kept < parts.size(); ++kept) runners_[parts[kept].first]->keep_place();
  } catch (...) {
    while (kept > 0) runners_[parts[--kept].first]->give_place_back();
    throw;
  }
  for (auto& [shard, part] : parts) {
    if (!runners_[shard]->post_kept(part)) refuse(part);
  }
}

void ShardSet::refuse(const Part& part) {
  fail_part(part, closed_error());
  end_later(part.op);
}

void ShardSet::end_later(const OperationPtr& op) {
  answers_.post([&router = router_, op] { router.finish_part(op); });
}

void ShardSet::lend(core::Lent& lent, ShardRunner::Patience patience) noexcept {
  while (lent.any()) {
    for (std::uint32_t shard = 0; shard < size(); ++shard) {
      if (!lent.test(shard)) continue;
      lent.reset(shard);
      runners_[shard]->lend(patience);
    }
  }
}

void ShardSet::stop() {
  for (auto& runner : runners_) runner->stop();
}

void ShardSet::let_go() noexcept {
  for (auto& runner : runners_) runner->let_go();
}

}  // namespace tarry::embedded

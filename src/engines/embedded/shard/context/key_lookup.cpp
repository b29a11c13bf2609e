#include "engines/embedded/shard/context/key_lookup.h"

#include "engines/embedded/records/tokens.h"

namespace tarry::embedded {

Handle KeyLookup::find(QueueId queue, std::string_view key) const {
  if (queue == kNoQueue) return kNoHandle;
  if (const auto generated = parse_generated_key(key);
      generated && generated->store_tag == state_->store_tag() &&
      generated->shard == state_->identity().shard &&
      state_->slab.holds(generated->handle, generated->id)) {
    const Message& message = state_->slab[generated->handle];
    if (message.generated_key != 0 && message.queue == queue) return generated->handle;
  }
  return state_->index.find(state_->key_hash(queue, key), [&](Handle candidate) {
    const Message& message = state_->slab[candidate];
    if (message.queue != queue) return false;
    auto put = journal_->read(journal_->place(message.position));
    // If the key's bytes cannot be read, its hash of 64 bits decides: the answer "no such key"
    // could be wrong.
    return !put || put->key == key;
  });
}

}  // namespace tarry::embedded

// Redisson's values: what a Java client's codec wrote, and what it reads.
//
// A client pops before it decodes: a value that its codec cannot read is lost. So what is written
// is written as the queue's others are, or refused.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "engines/redis/layouts/redisson_frames.h"
#include "engines/redis/records/layout_spec.h"

namespace tarry::redis {

struct Decoded {
  std::string_view payload;
  bool is_odd = false;  // not what `decode` says it is: handed out as it is
};
/// The text in the value; what is none that we know, and any other JSON, is handed out as it is.
/// The payload is a piece of `value`, or lies in `scratch`.
[[nodiscard]] Decoded decode_value(std::string_view value, Decode decode, std::string& scratch);

/// How a value is written.
struct Written {
  Codec codec = Codec::unknown;
  Kind kind = Kind::other;

  friend bool operator==(const Written&, const Written&) = default;
};
[[nodiscard]] Written written_as(std::string_view value);

/// What is known of a queue; as text ("old kryo5 text") what is remembered of it.
struct Seen {
  EntryForm form = EntryForm::automatic;  // automatic: not known
  std::optional<Written> written;         // of its last value

  friend bool operator==(const Seen&, const Seen&) = default;
};
[[nodiscard]] std::string spell_seen(const Seen& seen);
/// Empty for text that is none.
[[nodiscard]] Seen parse_seen(std::string_view text);
/// What the keys show, and where they do not what was remembered.
[[nodiscard]] Seen joined(const Seen& shown, const Seen& remembered);

/// What `decode_value` makes the payload of, as the queue's others are written. `invalid_argument`
/// for a payload that does not fit: names the option that does.
[[nodiscard]] Result<std::string> encode_value(std::string_view payload, Decode decode,
                                               const Seen& seen, std::string_view queue);

/// The form of an entry with this value: `wish`, or what is known; else the one that went with the
/// codec. Never automatic.
[[nodiscard]] EntryForm form_of(EntryForm wish, const Seen& seen, std::string_view value);
[[nodiscard]] std::string_view to_string(EntryForm form) noexcept;

}  // namespace tarry::redis

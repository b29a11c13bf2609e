// The begun mark: an empty file in a shard's directory. Its name says up to which segment the
// journal certainly reaches, e.g. `begun-0000000003`. After a sync of that segment a rename raises
// the mark. The mark becomes durable with the sync of the directory that a new segment needs
// anyway. So if the marked segment is missing, or has lost its header or its first batch, that is
// damage, and not a journal that was never begun. Earlier versions wrote no mark; without a mark
// nothing is known.
//
// Functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "storage/storage.h"

namespace tarry::embedded {

[[nodiscard]] std::string begun_name(std::uint64_t segment);

/// The number of the begun mark among a directory's names; the highest, if a power failure has left
/// several. 0: there is none.
[[nodiscard]] std::uint64_t begun_in(const std::vector<std::string>& names);

/// Raises the mark from `from` (0: there is none yet) to `to`; durable with the directory's next
/// sync. Returns the mark as it is now. If the disk had no room for the new name, the mark stays
/// `from`, which does no harm.
[[nodiscard]] Result<std::uint64_t> raise_begun(storage::Directory& directory, std::uint64_t from,
                                                std::uint64_t to);

}  // namespace tarry::embedded

// The tags of queues.
//
// Thread safety: pure functions.
#pragma once

#include <boost/json/object.hpp>

#include "server/sqs/protocol/fault.h"
#include "server/sqs/queues/queue_record.h"

namespace tarry::sqs {

/// Adds the tags to `into`: at most 50, names to 128 characters, values to 256.
[[nodiscard]] MaybeFault read_tags(const boost::json::object& from, Texts& into);

}  // namespace tarry::sqs

// Batches: SQS's rules for them, the same for sending, deleting and changing visibilities.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "server/sqs/protocol/call.h"
#include "server/sqs/protocol/fault.h"

namespace tarry::sqs {

struct Entry {
  std::string id;
  const boost::json::object* params;
};

/// Reads `Entries`: 1 to 10, each with an Id of its own.
[[nodiscard]] MaybeFault read_entries(const boost::json::object& params,
                                      std::vector<Entry>& entries);

/// The answer to a batch: what was done, and what was not.
class BatchAnswer {
 public:
  void succeeded(std::string_view id, Fields fields = {});
  void failed(std::string_view id, const Fault& fault);
  [[nodiscard]] Fields take();

 private:
  boost::json::array successful_;
  boost::json::array failed_;
};

}  // namespace tarry::sqs

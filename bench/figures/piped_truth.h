// Whether a piped design tells the truth about keys that are taken. A figure that asks for it
// proves it of each side first.
#pragma once

#include "designs/piped.h"

namespace tarry::bench {

/// Pushes keys that are new, waiting, twice in a batch, leased and settled, into the empty queue of
/// `design`, and ends the program if an answer is wrong or a message was overwritten.
void prove_truth(Piped& design);

}  // namespace tarry::bench

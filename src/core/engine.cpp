#include "core/engine.h"

namespace tarry::core {
namespace {
// A property of the thread, not of the program: set by those who run completions on it.
thread_local bool engine_thread = false;
}  // namespace

bool on_engine_thread() noexcept { return engine_thread; }

EngineThreadScope::EngineThreadScope() noexcept : before_(engine_thread) { engine_thread = true; }
EngineThreadScope::~EngineThreadScope() { engine_thread = before_; }

}  // namespace tarry::core

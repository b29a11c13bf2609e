#include "core/engine.h"

namespace tarry::core {
namespace {
// A property of the thread, not of the program: threads that run completions set it.
thread_local auto engine_thread = EngineThreadScope::Thread::others;
}  // namespace

bool on_engine_thread() noexcept { return engine_thread != EngineThreadScope::Thread::others; }
bool on_lent_thread() noexcept { return engine_thread == EngineThreadScope::Thread::lent; }

EngineThreadScope::EngineThreadScope(Thread thread) noexcept : before_(engine_thread) {
  engine_thread = thread;
}
EngineThreadScope::~EngineThreadScope() { engine_thread = before_; }

}  // namespace tarry::core

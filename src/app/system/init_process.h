// Process 1 of a container becomes the parent of every process whose own parent has ended, for
// example of processes that our commands leave behind. Only process 1 can reap them. So process 1
// becomes an init that does only this, and its one child does the work.
#pragma once

namespace tarry::app {

/// In process 1, this returns in a new child only. Process 1 itself forwards SIGTERM, SIGINT,
/// SIGHUP and SIGQUIT to the child, reaps all processes, and ends with the child's exit status (128
/// + N if signal N killed the child). In any other process it does nothing. Call it while there is
/// only one thread, before anything is printed. If no child can be made, process 1 goes on without
/// one.
void leave_process_one_to_an_init();

}  // namespace tarry::app

// The file seam: the only way the embedded engine touches a disk. POSIX files, files in RAM and
// the fault-injecting decorator stand behind it, and the simulator's virtual disk can.
//
// What the seam promises, and what every implementation is tested for (storage_test.cpp):
//  1. A write that returned success is seen by every later read, through any File of that name.
//  2. Bytes are durable after sync_data(); names made, replaced or removed are durable after the
//     sync() of the directory that holds them. Neither implies the other.
//  3. An operation that failed says so once, with operation, path and reason in one line. Nothing
//     is retried behind the caller's back but EINTR and the rest of a short write.
//  4. A File, a Lock and a subdirectory outlive the Directory that made them.
//  5. A name is one path component: not empty, not "." or "..", at most 255 bytes, without '/' and
//     NUL. Any other is invalid_argument.
//
//  6. No name below a Directory is a link that is followed: what a link points to is neither read
//     nor written.
//  7. A write beyond the process's limit of file size fails; it sends the process no SIGXFSZ.
//
// Error codes: no_space (disk or quota full, or the process's limit of file size reached),
// permission_denied (rights, read-only file system), not_found, conflict (exists, or locked by
// another), too_large (an offset that no file can have), invalid_argument (a bad name; a directory,
// a link or a device where a file should be, and the like), misuse (a write through a read-only
// File), unavailable (too many open files: again later), io_error (everything else: the storage
// failed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

namespace tarry::storage {

enum class OpenMode : std::uint8_t {
  read_only,   ///< must exist
  read_write,  ///< must exist
  create_new,  ///< must not exist (conflict); read and write, empty
};

/// One open file. Safe to read from several threads at once, also while one thread writes a range
/// that nobody reads; writes, sync, allocate, truncate by one thread at a time.
/// Offsets and sizes are bytes. Closed by its destructor, which syncs nothing.
class File {
 public:
  virtual ~File() = default;

  /// Writes all of `bytes`, growing the file where needed (a gap reads as zeros). After an error
  /// any part of the range may have been written.
  virtual Result<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;

  /// The same for the pieces one after the other, as many a system call as the system takes.
  virtual Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) = 0;

  /// The number of bytes read: short only at the end of the file, 0 beyond it.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const = 0;

  /// Makes everything written before, and the file's size, durable (fdatasync). A failure is
  /// final, and always io_error (a disk full at sync time included): the system may have dropped
  /// the data and call it clean, so a second call proves nothing. The caller must never retry.
  virtual Result<void> sync_data() = 0;

  /// Reserves room: after success, writes within [0, size) do not fail for lack of space (as far
  /// as the file system keeps that promise; copy-on-write ones may not), the file is at least
  /// `size` long, and what was never written reads as zeros. Never shrinks. After an error
  /// (no_space) the file is as long as it was.
  virtual Result<void> allocate(std::uint64_t size) = 0;

  /// Cuts the file, or grows it by a gap that reads as zeros and need not have room reserved.
  virtual Result<void> truncate(std::uint64_t size) = 0;

  virtual Result<std::uint64_t> size() const = 0;

  /// It has another name too (Directory::link), under which somebody keeps what is in it: it must
  /// not be written over.
  virtual Result<bool> is_shared() const { return false; }

  /// Some name still leads to it. False: it was removed, and what is written into it goes with its
  /// closing. True too where the system does not say.
  [[nodiscard]] virtual bool has_name() const { return true; }

  /// A hint that this range will be read soon. Never fails, never waits for the disk.
  virtual void will_need(std::uint64_t offset, std::uint64_t length) const = 0;
};

/// One of several reads that are made together, and what became of it.
struct Read {
  const File* file = nullptr;
  std::uint64_t offset = 0;
  std::span<char> into;
  Result<std::size_t> got = std::size_t{0};  ///< as of File::read_at
};

/// Makes many reads at once, so that they share the way into the system, and a disk that can do
/// many things at a time is asked for all of them. One thread at a time.
class Reader {
 public:
  virtual ~Reader() = default;

  /// Fills in `got` of each. Ranges to read into must not overlap.
  virtual void read(std::span<Read> reads) = 0;

  /// The same for what takes no waiting for a disk, or for a few pages at most. The disk is asked
  /// for the rest, of which `got` is less than there is, so that a later read will find it.
  virtual void read_cached(std::span<Read> reads) = 0;

  /// Reads have had to wait for a disk lately: File::will_need beforehand is worth its while.
  [[nodiscard]] virtual bool has_waited() const = 0;
};

/// A held lock; released on destruction, and by the system when the process dies. Any thread may
/// destroy it.
class Lock {
 public:
  virtual ~Lock() = default;
};

enum class Sharing : std::uint8_t {
  none,          ///< keeps everybody else out
  with_sharers,  ///< keeps out who shares with none
};

/// Both UINT64_MAX where the file system names no limit.
struct Space {
  std::uint64_t free_bytes;   ///< what this process may still use
  std::uint64_t total_bytes;  ///< of the whole file system
};

/// One directory of a store. Methods may be called from any thread.
class Directory {
 public:
  virtual ~Directory() = default;

  /// A regular file. not_found, conflict (create_new and it exists), invalid_argument (it is a
  /// directory, a link or something else that is no regular file).
  virtual Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) = 0;

  /// The names of all that is in it, whatever it is, sorted bytewise.
  virtual Result<std::vector<std::string>> list() const = 0;

  /// A regular file. What has it open can go on reading it; its room is given back after that.
  virtual Result<void> remove(std::string_view name) = 0;

  /// A regular file; atomically replaces `to`, where that exists. For small files that are
  /// published whole (write another name, sync_data, rename, sync the directory), and for a cleaned
  /// segment's file, which is given its next number. no_space: a name may take room.
  virtual Result<void> rename(std::string_view from, std::string_view to) = 0;

  /// Gives a regular file a second name, the same one, in `other`: two names, one file. not_found;
  /// conflict (it exists there); unsupported where the system cannot or will not (another file
  /// system, another owner's file, too many names, a directory that is on no disk).
  virtual Result<void> link(std::string_view name, Directory& other);

  /// That name is this open file's still, or its again. False where there is no such name.
  virtual Result<bool> is_named(std::string_view name, const File& file) const;

  /// fsync of the directory itself: names made, replaced or removed before are durable after it.
  /// A failure is final, and always io_error, as with File::sync_data.
  virtual Result<void> sync() = 0;

  /// The path that it was opened at still leads to it. False: somebody has removed or moved it, or
  /// put another in its place. True too where the system does not say.
  [[nodiscard]] virtual bool is_in_place() const { return true; }

  /// `create`: made if missing, and durable after the sync() of *this* directory. invalid_argument:
  /// it is no directory, or a link to one.
  virtual Result<std::unique_ptr<Directory>> subdirectory(std::string_view name, bool create) = 0;

  /// Locks the directory by file `name` (made if missing, never removed) against every other lock()
  /// of it by that name, in this process or another, and writes `holder` into it, e.g. "pid 1234
  /// (tarry serve)". Does not wait: when held by another, conflict, with the path and that holder's
  /// text in the message. A file left behind by a killed process holds nothing. A full disk costs
  /// only the text. A file that lock() has not written stays as it is: invalid_argument. One name
  /// for a directory: whether two can be held at once is left open.
  virtual Result<std::unique_ptr<Lock>> lock(std::string_view name, std::string_view holder) = 0;

  /// Keeps every lock() of file `name` out, and other lock_shared() not: for who looks and must
  /// change nothing. Makes no file (not_found where there is none: then nobody holds it) and writes
  /// nothing into it. Does not wait: when lock() holds it, conflict, as there.
  virtual Result<std::unique_ptr<Lock>> lock_shared(std::string_view name) = 0;

  /// Locks the directory itself, whatever becomes of files in it: lock() by name knows nothing of
  /// it. Does not wait: conflict. Where the system locks no directories, and where no other process
  /// can come (in RAM), it keeps nobody out.
  virtual Result<std::unique_ptr<Lock>> lock_itself(Sharing sharing);

  /// For files of this directory, and of others of its kind. This one reads them one by one.
  virtual std::unique_ptr<Reader> make_reader() const;

  virtual Result<Space> space() const = 0;

  /// Bytes that a file may have, by the limit of this process (`ulimit -f`).
  [[nodiscard]] virtual std::uint64_t largest_file() const { return UINT64_MAX; }

  /// For messages only.
  virtual std::string path() const = 0;
};

}  // namespace tarry::storage

// The file seam: the only way in which the embedded engine uses a disk. Its implementations are
// POSIX files, files in RAM, the fault-injecting decorator and the simulator's virtual disk.
//
// What the seam promises; every implementation is tested for it (storage_test.cpp):
//  1. A write that returned success is seen by every later read, through any File of that name.
//  2. Bytes are durable after sync_data(); names made, replaced or removed are durable after the
//     sync() of the directory that holds them. Neither implies the other.
//  3. A failed operation returns one error: operation, path and reason in one line. Only EINTR and
//     the rest of a short write are retried here.
//  4. A File, a Lock and a subdirectory outlive the Directory that made them.
//  5. A name is one path component: not empty, not "." or "..", at most 255 bytes, without '/' and
//     NUL. Any other is invalid_argument.
//
//  6. No name below a Directory is a link that is followed: what a link points to is neither read
//     nor written.
//  7. A write beyond the process's limit of file size fails; the process gets no SIGXFSZ.
//
// Error codes: no_space (disk or quota full, or the process's limit of file size reached),
// permission_denied (rights, read-only file system), not_found, conflict (exists, or locked by
// another), too_large (an offset that no file can have), invalid_argument (a bad name; a directory,
// a link or a device where a file should be, and the like), misuse (a write through a read-only
// File), unavailable (too many open files: try later), io_error (everything else: the storage
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

/// One open file. Several threads may read at once, also while one thread writes a range that
/// nobody reads; only one thread at a time may write, sync, allocate or truncate.
/// Offsets and sizes are bytes. Closed by its destructor, which syncs nothing.
class File {
 public:
  virtual ~File() = default;

  /// Writes all of `bytes`, growing the file if needed (a gap reads as zeros). After an error
  /// any part of the range may have been written.
  virtual Result<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;

  /// The same for several pieces in order, as many per system call as the system accepts.
  virtual Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) = 0;

  /// Returns the number of bytes read: fewer only at the end of the file, 0 beyond it.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const = 0;

  /// Makes everything written before, and the file's size, durable (fdatasync). A failure is
  /// final, and always io_error (a disk full at sync time included): the system may have dropped
  /// the data and call it clean, so a second call proves nothing. The caller must never retry.
  virtual Result<void> sync_data() = 0;

  /// Reserves room: after success, writes within [0, size) do not fail for lack of space (as far as
  /// the file system keeps that promise; copy-on-write ones may not), the file is at least `size`
  /// long, and bytes that were never written read as zeros. Never shrinks. After an error
  /// (no_space) the file is as long as it was.
  virtual Result<void> allocate(std::uint64_t size) = 0;

  /// Cuts the file, or grows it by a gap that reads as zeros and need not have room reserved.
  virtual Result<void> truncate(std::uint64_t size) = 0;

  virtual Result<std::uint64_t> size() const = 0;

  /// Whether it has another name too (Directory::link), for example in a backup: it must then not
  /// be overwritten.
  virtual Result<bool> is_shared() const { return false; }

  /// Whether a name still leads to it. False: it was removed, and bytes written into it are lost
  /// when it is closed. Also true if the system does not say.
  [[nodiscard]] virtual bool has_name() const { return true; }

  /// A hint that this range will be read soon. Never fails, never waits for the disk.
  virtual void will_need(std::uint64_t offset, std::uint64_t length) const = 0;
};

/// One of several reads that are made together, and its result.
struct Read {
  const File* file = nullptr;
  std::uint64_t offset = 0;
  std::span<char> into;
  Result<std::size_t> got = std::size_t{0};  ///< as of File::read_at
};

/// Makes many reads at once, so that they share system calls, and a disk that can work in parallel
/// gets all of them. One thread at a time.
class Reader {
 public:
  virtual ~Reader() = default;

  /// Fills in `got` of each. Ranges to read into must not overlap.
  virtual void read(std::span<Read> reads) = 0;

  /// The same for ranges that need no wait for a disk, or for a few pages at most. For the others
  /// `got` is less than the file has, and the disk is asked, so that a later read will find them.
  virtual void read_cached(std::span<Read> reads) = 0;

  /// True if reads had to wait for a disk lately: then File::will_need in advance is useful.
  [[nodiscard]] virtual bool has_waited() const = 0;
};

/// A held lock; released on destruction, and by the system when the process dies. Any thread may
/// destroy it.
class Lock {
 public:
  virtual ~Lock() = default;
};

enum class Sharing : std::uint8_t {
  none,          ///< keeps all other lockers out
  with_sharers,  ///< keeps out lockers that do not share
};

/// Both UINT64_MAX if the file system has no limit.
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

  /// All names in it, of any kind of file, sorted bytewise.
  virtual Result<std::vector<std::string>> list() const = 0;

  /// A regular file. A process that has it open may still read it; its room is freed after that.
  virtual Result<void> remove(std::string_view name) = 0;

  /// A regular file; atomically replaces `to` if that exists. For small files that are published as
  /// a whole (write another name, sync_data, rename, sync the directory), and for a cleaned
  /// segment's file, which gets its next number. no_space: a name may take room.
  virtual Result<void> rename(std::string_view from, std::string_view to) = 0;

  /// Gives a regular file the same name in `other` too: two names, one file. not_found; conflict
  /// (the name exists there); unsupported if the system refuses (another file system, another
  /// owner's file, too many names, a directory that is on no disk).
  virtual Result<void> link(std::string_view name, Directory& other);

  /// Whether that name leads to this open file. False if there is no such name.
  virtual Result<bool> is_named(std::string_view name, const File& file) const;

  /// fsync of the directory itself: names made, replaced or removed before are durable after it.
  /// A failure is final, and always io_error, as with File::sync_data.
  virtual Result<void> sync() = 0;

  /// Whether the path at which it was opened still leads to it. False: somebody has removed, moved
  /// or replaced it. Also true if the system does not say.
  [[nodiscard]] virtual bool is_in_place() const { return true; }

  /// `create`: made if missing, and durable after the sync() of *this* directory. invalid_argument:
  /// it is no directory, or a link to one.
  virtual Result<std::unique_ptr<Directory>> subdirectory(std::string_view name, bool create) = 0;

  /// Locks the directory by file `name` (made if missing, never removed) against every other lock()
  /// by that name, in this process or another, and writes `holder` into it, e.g. "pid 1234 (tarry
  /// serve)". Does not wait: if it is held, conflict, with the path and the holder's text in the
  /// message. A file left by a killed process holds nothing. On a full disk only the text is
  /// missing. A file that lock() has not written stays as it is: invalid_argument. Use one name per
  /// directory: whether two names can be locked at once is undefined.
  virtual Result<std::unique_ptr<Lock>> lock(std::string_view name, std::string_view holder) = 0;

  /// Keeps out every lock() of file `name`, but not other lock_shared(): for readers that must
  /// change nothing. Makes no file (not_found if there is none: then nobody holds it) and writes
  /// nothing into it. Does not wait: if lock() holds it, conflict, as there.
  virtual Result<std::unique_ptr<Lock>> lock_shared(std::string_view name) = 0;

  /// Locks the directory itself, whatever happens to files in it; independent of lock() by name.
  /// Does not wait: conflict. If the system cannot lock directories, or no other process can access
  /// it (in RAM), it keeps nobody out.
  virtual Result<std::unique_ptr<Lock>> lock_itself(Sharing sharing);

  /// For files of this directory, and of others of its kind. The default reads them one by one.
  virtual std::unique_ptr<Reader> make_reader() const;

  virtual Result<Space> space() const = 0;

  /// The largest size of a file, by this process's limit (`ulimit -f`).
  [[nodiscard]] virtual std::uint64_t largest_file() const { return UINT64_MAX; }

  /// For messages only.
  virtual std::string path() const = 0;
};

}  // namespace tarry::storage

-- The tuning database, version 1 (PRAGMA user_version). Every measurement is one row that is never changed.
--
-- What is queried has a column; everything a record holds is in `body` and `samples` besides. A reader recomputes the
-- content hash from those two and compares it, and every column, so a damaged row is found, reported and skipped.
--
-- Readers: any number, at any time (write-ahead log). Writers: one, which holds the lock file beside the database.
PRAGMA application_id = 1413891138;  -- "TFDB" as a number: told apart from other programs' SQLite files
PRAGMA user_version = 1;

CREATE TABLE records (
  id         INTEGER PRIMARY KEY,   -- order of insertion, of no meaning outside this file
  hash       BLOB NOT NULL UNIQUE,  -- 16 bytes, record_hash(): identity, so that merging twice adds nothing
  task       TEXT NOT NULL,         -- "conv2d(in_channels=64,...)"
  op         TEXT NOT NULL,         -- "conv2d", the task's first word
  target     TEXT NOT NULL,         -- "x86-64-v3/znver3"
  threads    INTEGER NOT NULL,
  policy     TEXT NOT NULL,         -- how it was measured; records of different policies are never compared
  device_key TEXT NOT NULL,         -- the queue's label: "local", "rk3399"
  role       TEXT NOT NULL,         -- trial, default, final
  outcome    TEXT NOT NULL,         -- ok, build_failed, launch_failed, wrong_result, out_of_bounds, timeout, crashed, unstable
  latency_ns REAL,                  -- ranking statistic; NULL unless the outcome is ok
  candidate  TEXT NOT NULL,
  program    BLOB,                  -- 16 bytes, hash of the lowered program; NULL when it never got that far
  spent_ns   INTEGER NOT NULL,      -- tuning time that this record cost
  time       TEXT NOT NULL,         -- UTC, for reading only
  body       TEXT NOT NULL,         -- JSON, the fields of a JSON line without `hash` and `samples_ns`
  samples    BLOB NOT NULL          -- float32 little-endian nanoseconds a call, in the order taken
) STRICT;

-- What a run asks before it starts: how much is there for (task, target, threads, policy)?
CREATE INDEX records_by_key ON records (task, target, threads, policy, role, spent_ns);

-- The fastest of (task, target, threads).
CREATE INDEX records_by_latency ON records (task, target, threads, role, latency_ns) WHERE outcome = 'ok';

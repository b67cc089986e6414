const syncs = ["fsync", "fdatasync", "syncfs", "sync", "sync_file_range", "msync"].join(",");

/**
 * Simulates a slower disk for a daemon: strace delays each sync of the daemon and its children. A filter in the kernel
 * stops no other calls, so they run at full speed. strace itself is outside of the daemon's cgroup.
 */
export function slowSyncs(delayMs: number | undefined): readonly string[] {
  if (delayMs === undefined) return [];
  const delay = `inject=${syncs}:delay_exit=${delayMs * 1000}`;
  return ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", `trace=${syncs}`, "-e", delay];
}

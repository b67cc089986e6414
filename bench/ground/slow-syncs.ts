const syncs = ["fsync", "fdatasync", "syncfs", "sync", "sync_file_range", "msync"].join(",");

/**
 * Puts a slower disk under a daemon: strace holds each of its syncs back for a while longer, and those of whatever it
 * starts. A filter in the kernel stops nothing else, so all other calls run at full speed; strace itself is outside of
 * the daemon's cgroup.
 */
export function slowSyncs(delayMs: number | undefined): readonly string[] {
  if (delayMs === undefined) return [];
  const delay = `inject=${syncs}:delay_exit=${delayMs * 1000}`;
  return ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", `trace=${syncs}`, "-e", delay];
}

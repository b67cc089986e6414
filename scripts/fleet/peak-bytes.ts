/** The most memory that this process has had at any instant: what it has at its end says nothing of that. */
export function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1_024;
}

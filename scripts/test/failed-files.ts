/** The files with a failed test, from a JUnit report; each once, in the report's order. */
export function failedFiles(report: string): readonly string[] {
  const failedCase = /<testcase\b[^>]*\bfile="([^"]+)"[^>]*[^/]>\s*<(?:failure|error)\b/g;
  return [...new Set([...report.matchAll(failedCase)].map((match) => match[1] ?? ""))];
}

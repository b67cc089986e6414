const trailer = /^mass-delete:[ \t]*(\d{1,9})[ \t]*$/i;
/** Below this line `git commit --verbose` shows the diff, which is not part of the message. */
const scissors = /^# -+ >8 -+$/m;

/** The declared number of deletions: `Mass-Delete: 42` in the last paragraph of the message. */
export function massDeleteOf(message: string): number | undefined {
  const [text = ""] = message.split(scissors);
  const lines = text.split("\n").filter((line) => !line.startsWith("#"));
  const paragraphs = lines
    .join("\n")
    .trim()
    .split(/\n[ \t]*\n/);
  // The first paragraph is the subject and does not count.
  const last = paragraphs.length > 1 ? (paragraphs.at(-1) ?? "") : "";
  const counts = last.split("\n").flatMap((line) => trailer.exec(line)?.[1] ?? []);
  return counts.length === 1 ? Number(counts[0]) : undefined;
}

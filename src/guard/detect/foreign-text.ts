import { oneLine } from "../../base/plain-text.ts";
import { firstChars } from "../../base/short-text.ts";

/** Characters that take no room, and so can hide or join words: joiners, soft hyphens, variation selectors, tags. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Text that tenants can write (names of clients, labels of alerts, messages of events) as it may be shown: one line, no
 * control characters, nothing invisible, and not long. Nothing is decided on it.
 */
export function foreignText(text: string, charsMax: number): string {
  // Cut first: a megabyte of it must not be searched several times.
  const cleaned = oneLine(firstChars(text, charsMax * 4).replace(invisible, ""));
  return firstChars(cleaned, charsMax);
}

/** The same between quotation marks, which it cannot end: what follows them is ours. */
export function quotedText(text: string, charsMax = 100): string {
  return `"${foreignText(text, charsMax).replace(/[\p{Pi}\p{Pf}"`´]/gu, "'")}"`;
}

/** The same inside of Markdown: it cannot begin a heading, a link, a table cell or a tag. */
export function markdownText(text: string, charsMax: number): string {
  return foreignText(text, charsMax)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replace(/[\\`*_{}[\]()#+\-.!|>~:@]/g, "\\$&");
}

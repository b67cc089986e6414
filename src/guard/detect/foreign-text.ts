import { oneLine } from "../../base/plain-text.ts";
import { firstChars } from "../../base/short-text.ts";

/** Characters without width can hide or join words: joiners, soft hyphens, variation selectors, tags. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Makes text that tenants can write (client names, alert labels, event messages) safe to show: one short line without
 * control or invisible characters. No decision depends on such text.
 */
export function foreignText(text: string, charsMax: number): string {
  // Cut first, so that a megabyte of text is not searched several times.
  const cleaned = oneLine(firstChars(text, charsMax * 4).replace(invisible, ""));
  return firstChars(cleaned, charsMax);
}

/** The same in quotation marks that the text itself cannot close. */
export function quotedText(text: string, charsMax = 100): string {
  return `"${foreignText(text, charsMax).replace(/[\p{Pi}\p{Pf}"`´]/gu, "'")}"`;
}

/** The same for Markdown: the text cannot start a heading, a link, a table cell or a tag. */
export function markdownText(text: string, charsMax: number): string {
  return foreignText(text, charsMax)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replace(/[\\`*_{}[\]()#+\-.!|>~:@]/g, "\\$&");
}

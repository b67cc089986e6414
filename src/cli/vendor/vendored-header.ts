import { createHash } from "node:crypto";
import type { VendoredFile } from "./vendor-lock.ts";

/** A file in the repository, divided at the place where the bytes of others begin. */
export interface DividedFile {
  readonly header: string;
  readonly body: Uint8Array;
}

const oursPattern = /^# (?:Vendored verbatim from |sha256:[0-9a-f]{64} without this header\.)/u;

/** The last `bytes` bytes are the body. Undefined if the file is shorter. */
export function divide(content: Uint8Array, bytes: number): DividedFile | undefined {
  if (content.length < bytes) return undefined;
  const at = content.length - bytes;
  return { header: new TextDecoder().decode(content.subarray(0, at)), body: content.subarray(at) };
}

/** Whether a text changes nothing in the YAML behind it: comments and blank lines, each ended. */
export function isOnlyComments(header: string): boolean {
  if (header === "") return true;
  return header.endsWith("\n") && header.split("\n").every((line) => /^\s*(?:#.*)?$/u.test(line));
}

/** Our lines with the source, then those that people wrote. */
export function headerFor({ url, sha256 }: Pick<VendoredFile, "url" | "sha256">, old = ""): string {
  const theirs = old.split("\n").filter((line) => line !== "" && !oursPattern.test(line));
  const lines = [
    `# Vendored verbatim from ${url}`,
    `# sha256:${sha256} without this header. Do not edit what is below: \`levee vendor verify\` finds every change.`,
    ...theirs,
  ];
  return `${lines.join("\n")}\n`;
}

/** The address in our line of a header, if the comments at the beginning of a file have one. */
export function sourceInHeader(text: string): string | undefined {
  for (const line of text.split("\n")) {
    if (!/^\s*(?:#|$)/u.test(line)) return undefined;
    const url = /^# Vendored verbatim from (\S+)$/u.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

export function hexSha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

import type { EmbeddedPage } from "../embedded-page.ts";

/** The page's files by name. */
export type PageFiles = ReadonlyMap<string, string>;

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

export function contentTypeOf(name: string): string {
  return contentTypes[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
}

/** By the names under which the page asks for them. */
export function pageFiles({ html, script, style, icon }: EmbeddedPage): PageFiles {
  return new Map([
    ["index.html", html],
    ["console.js", script],
    ["console.css", style],
    ["icon.svg", icon],
  ]);
}

import { isObject } from "../../kube/client/json-fields.ts";

/** The page's files by name, as `npm run build` puts them into the program. */
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

/** Reads the bundle: one JSON object of file name → text. Throws when it is not that. */
export function parsePageFiles(text: string): PageFiles {
  const files: unknown = JSON.parse(text);
  if (!isObject(files)) throw new TypeError("Cannot read the page's bundle: it must be an object");
  return new Map(Object.entries(files).flatMap(([name, file]) => (typeof file === "string" ? [[name, file]] : [])));
}

import type { Certificate } from "./certificate.ts";
export function reportHtml(_c: Certificate): string {
  return "";
}

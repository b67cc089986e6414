import type { JsonText } from "../../base/brand.ts";
import { parseResult } from "../../cni/result.ts";

/** The gateways named in a CNI result of any version. A result that cannot be read names none. */
export function resultGateways(result: string): readonly string[] {
  try {
    const { ips } = parseResult(result as JsonText, "1.0.0");
    return [...new Set(ips.flatMap(({ gateway }) => gateway ?? []))];
  } catch {
    return []; // The shim has already been judged by its exit status; this is only for show.
  }
}

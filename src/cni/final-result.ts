import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { withoutIndents } from "../base/without-indents.ts";
import type { Chain } from "./chain.ts";
import { parseResult, printResult } from "./result.ts";
import { withRouteEdit } from "./route-edit.ts";

/**
 * The chain's result as CHECK and DEL get it: with the default routes that are in the namespace, and in the version of
 * the network's configuration, because plugins read it by that version. A plugin may have printed another one.
 */
export function finalResult({ routes, cniVersion }: Chain, result: JsonText): JsonText {
  const edited = withRouteEdit(result, routes);
  try {
    const parsed = parseResult(edited, cniVersion);
    if (parsed.cniVersion === cniVersion) return edited;
    return withoutIndents(printResult(parsed, cniVersion)) as JsonText; // what printResult returns is JSON
  } catch (thrown) {
    // A record of an older journal or of Multus may hold anything. The plugin may still be able to use it.
    if (thrown instanceof LeveeError) return edited;
    throw thrown;
  }
}

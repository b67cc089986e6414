import type { IfName } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import type { Chain } from "../cni/chain.ts";
import { checkCapabilities } from "./capability.ts";
import { planDefaultRoutes } from "./default-route.ts";
import { chainOf, type PlanInput, type WantedNetwork } from "./plan.ts";

/** The plan of one network for a pod that runs already. It must leave the default routes of the others as they are. */
export function planPlugged(
  wanted: Required<WantedNetwork>,
  input: Pick<PlanInput, "request" | "deviceInfoDir">,
  ifname: IfName,
): Chain {
  const { element, source } = wanted;
  const [ofOthers, routes] = planDefaultRoutes([undefined, element]);
  if (routes === undefined || ofOthers?.dropV4 === true || ofOthers?.dropV6 === true) {
    throw new LeveeError(
      "field-unsupported",
      `Cannot attach ${source.network} to a running pod with "default-route" ${JSON.stringify(element.defaultRoute)}: the pod's default routes never change while it runs; take "default-route" out of the annotation, or make the pod again`,
    );
  }
  checkCapabilities(source, element);
  const whole = { ...input, defaultNetwork: source, others: [], runtimeConfig: {} };
  return chainOf(wanted, whole, { isDefault: false, ifname, routes });
}

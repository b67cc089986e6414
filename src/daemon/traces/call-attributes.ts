import { podArgs } from "../../cni/cni-args.ts";
import { nodeNetworks } from "../../admission/request.ts";
import type { CallEnd } from "../serve/call-log.ts";
import type { SpanAttributes } from "./span.ts";

/** What a call was about. Names of OpenTelemetry's conventions where there are some. */
export function callAttributes({ call, request, error }: CallEnd): SpanAttributes {
  const { verb, containerId, ifname, hand } = call.header;
  const { namespace, name, uid } = request !== undefined && "containerId" in request ? podArgs(request.args) : {};
  const networks = call.asked?.request.networks.filter((network) => network !== nodeNetworks) ?? [];
  return {
    "cni.command": verb,
    "cni.ifname": textOrNone(ifname),
    "container.id": textOrNone(containerId),
    "k8s.namespace.name": namespace,
    "k8s.pod.name": name,
    "k8s.pod.uid": uid,
    "cni.networks": networks.length === 0 ? undefined : networks,
    "levee.attempt": call.asked?.attempt,
    "levee.resumed": call.resumed === undefined ? undefined : true,
    "levee.shim": hand.software,
    "error.type": error?.code,
  };
}

function textOrNone(text: string): string | undefined {
  return text === "" ? undefined : text;
}

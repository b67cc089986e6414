import { builtinPlugins } from "../cni/builtin/builtin-plugins.ts";
import type { ChoiceKnob, ListKnob, UrlKnob } from "./knob.ts";

/** Settings that are neither numbers, paths nor ports. */
export const listKnobs = {
  criticalPods: {
    unit: "list",
    default: undefined,
    // Each pod of the node is compared with every entry when it changes.
    itemsMax: 64,
    reason:
      "Pods that the site depends on, whose ADDs go first as those of `kube-system` do: a namespace (`traefik`), or `NAMESPACE/KEY=VALUE[,KEY=VALUE…]` for its pods with these labels. Nothing else changes for them. Whoever may create pods in such a namespace can make critical ones; labels count in no other namespace.",
    origin: "levee",
  },
} as const satisfies Record<string, ListKnob>;

export const urlKnobs = {
  tracesEndpoint: {
    unit: "URL",
    default: undefined,
    bytesMax: 512,
    reason:
      "Receiver of OTLP over HTTP to which the daemon sends [traces](traces.md) of its calls, such as `http://127.0.0.1:4318`; off unless set. Without a path it is `/v1/traces`.",
    origin: "levee",
  },
} as const satisfies Record<string, UrlKnob>;

export const choiceKnobs = {
  builtinPlugins: {
    unit: "choice",
    default: "auto",
    words: ["auto", "off"],
    names: builtinPlugins,
    reason:
      "Where the shim's [built-in plugins](builtin.md) stand in for programs: `auto` where no program is, or the upstream one of a compared version; `off` nowhere; a list for these plugins, whatever program is there. A configuration that a built-in does not know whole goes to the program in any case.",
    origin: "levee",
  },
} as const satisfies Record<string, ChoiceKnob>;

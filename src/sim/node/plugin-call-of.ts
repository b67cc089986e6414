import { bytesField, bytesFields, numberField, type Frame } from "../../wire/frame.ts";
import type { PluginCall } from "./sim-plugins.ts";

/** The run that a RUN frame orders. */
export function pluginCallOf(frame: Frame): PluginCall {
  const env = new Map(
    bytesFields(frame, "env").map((value) => {
      const [key = "", ...rest] = textOf(value).split("=");
      return [key, rest.join("=")];
    }),
  );
  return {
    verb: env.get("CNI_COMMAND") ?? "",
    containerId: env.get("CNI_CONTAINERID") ?? "",
    netns: env.get("CNI_NETNS") ?? "",
    ifname: env.get("CNI_IFNAME") ?? "",
    config: JSON.parse(textOf(bytesField(frame, "stdin") ?? new Uint8Array(0))) as PluginCall["config"],
    timeoutMs: numberField(frame, "timeout_ms") ?? 0,
  };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}

import { lossyTexts, numberField, textField, type Frame } from "../../wire/frame.ts";
import type { PluginCall } from "./sim-plugins.ts";

/** The run that a RUN frame orders. */
export function pluginCallOf(frame: Frame): PluginCall {
  const env = new Map(
    lossyTexts(frame, "env").map((text) => {
      const end = text.indexOf("=");
      return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
    }),
  );
  return {
    verb: env.get("CNI_COMMAND") ?? "",
    containerId: env.get("CNI_CONTAINERID") ?? "",
    netns: env.get("CNI_NETNS") ?? "",
    ifname: env.get("CNI_IFNAME") ?? "",
    config: JSON.parse(textField(frame, "stdin") ?? "") as PluginCall["config"],
    timeoutMs: numberField(frame, "timeout_ms") ?? 0,
  };
}

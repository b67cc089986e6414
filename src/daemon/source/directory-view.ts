import type { Directory } from "../../directory/directory.ts";
import type { View } from "../../view/view.ts";

/** A folder of YAML as a view of pods and networks. */
export function directoryView(directory: Directory): View {
  return {
    findPod: (namespace, name) => directory.findPod(namespace, name),
    waitForPod: (wanted, signal) => directory.waitForPod(wanted, signal),
    findNetwork: (namespace, name) => directory.findNetwork(namespace, name),
    networks: () => directory.networks(),
    pods: () => directory.pods(),
    onPodChange: (listener) => directory.onPodChange(listener),
    problems: () => unreadFiles(directory),
  };
}

/** Each unread file once, with its first bad line. A file with a duplicate object was read, so it is left out. */
function unreadFiles(directory: Directory): readonly string[] {
  const places = new Map<string, string>();
  for (const { file, line, reason } of directory.problems()) {
    if (file === "" || reason.includes("as it must be defined once") || places.has(file)) continue;
    places.set(file, line === undefined ? file : `${file}, line ${line}`);
  }
  return [...places.values()];
}

import { encodeFrame, type OutgoingField } from "../../src/wire/frame.ts";

/** No process has this number: the kernel's own limit is lower. */
const nobody = 4_194_399;

/** The fields of a CALL that the daemon would serve, with what the test changes or, by undefined, leaves out. */
export function callFields(changes: Readonly<Record<string, OutgoingField[1]>> = {}): readonly OutgoingField[] {
  const fields = {
    version_min: 1,
    version_max: 1,
    software: "hostile",
    verb: "ADD",
    container_id: "h1",
    netns: "/var/run/netns/none",
    ifname: "eth0",
    cni_args: "",
    cni_path: "/nowhere",
    netns_dev: 4,
    netns_ino: 12_345,
    pid: nobody,
    pid_start: 1,
    pid_namespace: 1,
    config_length: 2,
    budget_ms: 10_000,
    ...changes,
  };
  return Object.entries(fields) as readonly OutgoingField[]; // the keys are tags
}

export function callFrame(changes: Readonly<Record<string, OutgoingField[1]>> = {}): Uint8Array {
  return encodeFrame("CALL", callFields(changes));
}

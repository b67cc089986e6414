import type { MachineModel } from "./machine-model.ts";

/** Measured on two cores of a virtual machine; docs/sim.md says how, and how far it is from the real storms. */
export const defaultModel: MachineModel = {
  cores: 2,
  spawnCpuMs: 0.8,
  shimCpuMs: 1.2,
  pluginCpuMs: 4,
  pluginCpuPerPodUs: 24.5,
  pluginWaitMs: 3,
  syncMsMax: 3,
  daemon: {
    startCpuMs: 90,
    messageCpuMs: 0.345,
    messageCpuPerCallUs: 0.62,
    baseMib: 14,
    callKib: 10,
    textMib: 12,
    thrashFactor: 80,
  },
  multus: {
    startCpuMs: 300,
    shimCpuMs: 12,
    pollMs: 100,
    requestCpuMs: 10,
    threads: 4,
    threads430: 6,
    pluginCpuMs: 13,
    baseMib: 6,
    requestKib: 25,
    pluginMib: 3.2,
    textMib: 40,
    textMibMin: 7,
    thrashFactor: 700,
  },
};

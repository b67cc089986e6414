import { argoCd } from "../peers/argocd.ts";
import { calico } from "../peers/calico.ts";
import { cilium } from "../peers/cilium.ts";
import { flanneld, flannelPlugin } from "../peers/flannel.ts";
import { kustomize } from "../peers/kustomize.ts";
import type { Peer } from "../peers/peer.ts";
import { redis } from "../peers/redis.ts";
import { dynamicNetworks } from "../peers/multus.ts";
import { draExampleDriver } from "../peers/dra-example-driver.ts";
import { conmon, criO } from "../peers/cri-o.ts";
import { kubevirt } from "../peers/kubevirt.ts";
import { openVswitch } from "../peers/open-vswitch.ts";
import { ovsCni } from "../peers/ovs-cni.ts";
import { whereabouts } from "../peers/whereabouts.ts";

/** A program of others that Levee runs beside; its tests are a file of `neighbours/`. */
export interface Neighbour {
  readonly name: string;
  /** What its tests try, for `--help`. */
  readonly about: string;
  /** Programs that are built before the tests, which have no network. */
  readonly peers: readonly (() => Promise<Peer>)[];
  /** It needs an API server and no node, so its file runs by itself. */
  readonly hasNoNode?: true;
}

const argo = [argoCd, kustomize, redis];

/** All neighbours, in the order in which they run, each on a cluster of its own. */
export const neighbours: readonly Neighbour[] = [
  { name: "whereabouts", about: "addresses from the API server, 200 pods at once", peers: [whereabouts] },
  {
    name: "multus-e2e",
    about: "the scenarios of Multus' own end-to-end tests, with Levee and with Multus",
    peers: [draExampleDriver],
  },
  {
    name: "dynamic-networks",
    about: "multus.sock: the real multus-shim, and multus-dynamic-networks-controller",
    peers: [dynamicNetworks],
  },
  { name: "plugins", about: "dhcp with its daemon and a server, tuning, sbr", peers: [] },
  { name: "ovs", about: "ovs-cni and Open vSwitch", peers: [openVswitch, ovsCni] },
  { name: "cri-o", about: "the runtime CRI-O instead of containerd", peers: [criO, conmon] },
  {
    name: "kubevirt",
    about: "pods of virtual machines, as KubeVirt's own code writes and reads them",
    peers: [kubevirt],
  },
  { name: "flannel", about: "as the primary network of two nodes", peers: [flanneld, flannelPlugin] },
  { name: "calico", about: "its CNI plugin and its IPAM as the primary network, without Felix", peers: [calico] },
  { name: "cilium", about: "its CNI plugin without its agent, and what the agent does to confs", peers: [cilium] },
  {
    name: "argocd",
    about: "its self-heal against the guard's lock in git, in the guard's outage",
    peers: argo,
    hasNoNode: true,
  },
  {
    name: "argocd-gitops",
    about: "deploy/gitops in waves, and what stays when files vanish from git",
    peers: argo,
    hasNoNode: true,
  },
];

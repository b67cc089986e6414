import { argoCd } from "../peers/argocd.ts";
import { flanneld, flannelPlugin } from "../peers/flannel.ts";
import { kustomize } from "../peers/kustomize.ts";
import type { Peer } from "../peers/peer.ts";
import { redis } from "../peers/redis.ts";
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
  { name: "flannel", about: "as the primary network of two nodes", peers: [flanneld, flannelPlugin] },
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

import { sameNetns, type NetnsIdentity } from "../base/identity.ts";
import { SharedTexts } from "../base/shared-texts.ts";
import { bigintField, bytesFields, type Frame } from "./frame.ts";

/** The namespace of a call. Thousands of calls may wait, so equal parts are kept once. */
export function netnsOfCall(frame: Frame): NetnsIdentity | undefined {
  const device = bigintField(frame, "netns_dev");
  const inode = bigintField(frame, "netns_ino");
  if (device === undefined || inode === undefined) return undefined;
  const [cookie, ctimeNs] = [bigintField(frame, "netns_cookie"), bigintField(frame, "netns_ctime")];
  return { device: commonDevice(device), inode, cookie, ctimeNs };
}

/** All shims run in the host's namespace, so they share one object. */
export function ownNetnsOfCall(frame: Frame): NetnsIdentity | undefined {
  const device = bigintField(frame, "own_netns_dev");
  const inode = bigintField(frame, "own_netns_ino");
  const own = device === undefined || inode === undefined ? undefined : { device: commonDevice(device), inode };
  const [last] = lastOwn;
  return sameNetns(own, last) ? last : (lastOwn[0] = own);
}

const lastOwn: [(NetnsIdentity | undefined)?] = [];

/** All namespaces of a node are on one device, so they share one bigint. */
function commonDevice(device: bigint): bigint {
  const [last] = lastDevice;
  return last === device ? last : (lastDevice[0] = device);
}

const lastDevice: [bigint?] = [];

/** The names of the interfaces in the call's namespace as one text: nearly all calls have the same. */
export function linksOfCall(frame: Frame): string {
  const names = bytesFields(frame, "link");
  // The kernel allows names that are not UTF-8, but no name with a slash. Levee never looks for the former.
  return names.length === 0 ? "" : common.share(`/${Buffer.from(joined(names)).toString("utf8")}/`);
}

/** Whether a name is in the text of `linksOfCall`. */
export function isAmongLinks(links: string, ifname: string): boolean {
  return links.includes(`/${ifname}/`);
}

const common = new SharedTexts();

function joined(names: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(names.flatMap((name, index) => (index === 0 ? [name] : [slash, name])));
}

const slash = Buffer.from("/");

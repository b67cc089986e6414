import type { NetnsPath } from "../base/brand.ts";

/** A network namespace that the resident hand keeps. It ends when it is disposed, and with the hand or the daemon. */
export interface KeptNetns extends Disposable {
  readonly path: NetnsPath;
}

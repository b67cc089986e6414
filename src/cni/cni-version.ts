import { LeveeError } from "../base/errors.ts";

/** Every supported version of the CNI specification, oldest first. */
export const supportedVersions = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

export type CniVersion = (typeof supportedVersions)[number];

/** The version of a configuration without `cniVersion`. */
export const versionWhenAbsent: CniVersion = "0.1.0";

/** The version whose shape the result model has. */
export const newestVersion: CniVersion = "1.1.0";

const known: ReadonlySet<string> = new Set(supportedVersions);

/** The first version that has the verb. A verb that is not listed exists in every version. */
const verbSince: Readonly<Record<string, CniVersion>> = { CHECK: "0.4.0", GC: "1.1.0", STATUS: "1.1.0" };

export function isSupportedVersion(version: string): version is CniVersion {
  return known.has(version);
}

/** Negative when `left` is older, positive when it is newer. Both must be `x.y.z`. */
export function compareVersions(left: string, right: string): number {
  const [leftParts, rightParts] = [parts(left), parts(right)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (leftParts[index] ?? 0) - (rightParts[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export function supportsVerb(version: string, verb: string): boolean {
  const since = verbSince[verb];
  return since === undefined || compareVersions(version, since) >= 0;
}

/** Whether DEL gets the ADD result as `prevResult`. Older plugins must not see it. */
export function prevResultAtDel(version: string): boolean {
  return compareVersions(version, "0.4.0") >= 0;
}

/** A version from outside, or an error that names the supported ones. `""` stands for the oldest, as in libcni. */
export function requireVersion(version: string, what: string): CniVersion {
  if (version === "") return versionWhenAbsent;
  if (isSupportedVersion(version)) return version;
  throw new LeveeError(
    "version-unsupported",
    `Cannot use ${what}: its cniVersion must be one of ${supportedVersions.join(", ")}: current value is ${JSON.stringify(version)}`,
    { details: `supported versions are ${supportedVersions.join(", ")}` },
  );
}

/** The newest supported version that the configuration offers in `cniVersion` and `cniVersions`. */
export function chooseVersion(offered: readonly string[], what: string): CniVersion {
  const common = supportedVersions.findLast((version) => offered.includes(version));
  if (common !== undefined) return common;
  const [only = ""] = offered;
  if (offered.length <= 1) return requireVersion(only, what);
  throw new LeveeError(
    "version-unsupported",
    `Cannot use ${what}: its cniVersions must name one of ${supportedVersions.join(", ")}: current value is ${JSON.stringify(offered)}`,
  );
}

function parts(version: string): number[] {
  return version.split(".").map((part) => {
    const value = Number(part);
    if (!/^[0-9]+$/.test(part))
      throw new LeveeError(
        "version-unsupported",
        `Cannot compare ${JSON.stringify(version)}: a CNI version is three numbers`,
      );
    return value;
  });
}

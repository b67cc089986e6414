import manifest from "../../package.json" with { type: "json" };

/** What this program calls itself towards people and towards the daemon. */
export const cliVersion: string = manifest.version;
export const cliSoftware = `levee ${cliVersion}`;

/** The product's version; package.json and shim/Cargo.toml carry the same, held by version.test.ts. */
export const version = "0.1.0";
export const software = `levee ${version}`;

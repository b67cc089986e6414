/** A ResourceSlice as the API server sends it. Attributes are the device's ID and resource; undefined leaves one out. */
export function slice(
  name: string,
  devices: Readonly<Record<string, readonly [deviceId?: string, resourceName?: string]>>,
  more: { readonly driver?: string; readonly pool?: string; readonly generation?: number } = {},
): object {
  const { driver = "vf.example", pool = "node1", generation = 1 } = more;
  return {
    metadata: { name, resourceVersion: "5" },
    spec: {
      nodeName: "node1",
      driver,
      pool: { name: pool, generation, resourceSliceCount: 1 },
      devices: Object.entries(devices).map(([device, [deviceId, resourceName]]) => ({
        name: device,
        attributes: {
          "example.com/model": { string: "x".repeat(60) },
          ...(deviceId === undefined ? {} : { "k8s.cni.cncf.io/deviceID": { string: deviceId } }),
          ...(resourceName === undefined ? {} : { "k8s.cni.cncf.io/resourceName": { string: resourceName } }),
        },
      })),
    },
  };
}

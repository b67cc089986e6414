import type { Clock } from "../../base/clock.ts";
import type { KubeAccess, KubeCredentials, KubeTls } from "./access.ts";
import { FreshFile } from "./fresh-file.ts";

/** Where kubelet puts a pod's token and the cluster's authority. */
export const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

interface InClusterOptions {
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: kubelet sets both in every pod. */
  readonly host: string;
  readonly port: string;
  readonly folder?: string;
  readonly clock: Clock;
}

/** The access of a pod: the service's address, the service account's token and the cluster's authority. */
export function inClusterAccess(options: InClusterOptions): KubeAccess {
  const { host, port, folder = serviceAccountFolder, clock } = options;
  const token = new FreshFile(`${folder}/token`, clock);
  const ca = new FreshFile(`${folder}/ca.crt`, clock);
  let tls: KubeTls = {};
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    async credentials(): Promise<KubeCredentials> {
      const authority = await ca.text();
      if (tls.ca !== authority) tls = { ca: authority };
      return { token: (await token.text()).trim(), tls };
    },
    renew() {
      token.expire();
      ca.expire();
    },
  };
}

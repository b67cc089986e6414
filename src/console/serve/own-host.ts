/** The names under which a loopback port is reached. `localhost` is loopback in every browser, whatever DNS says. */
const loopbackNames: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Only this machine, and only by the port that listens. */
export function loopbackHost(port: number): (host: string) => boolean {
  return (host) => {
    const { name, port: given } = partsOf(host);
    return loopbackNames.has(name) && given === String(port);
  };
}

/** The names that were given, and loopback by any port, which `kubectl port-forward` chooses. */
export function clusterHost(names: readonly string[]): (host: string) => boolean {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (host) => {
    const { name } = partsOf(host);
    return loopbackNames.has(name) || known.has(name) || known.has(host.toLowerCase());
  };
}

function partsOf(host: string): { readonly name: string; readonly port: string } {
  const [, name = "", port = ""] = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?$/u.exec(host.toLowerCase()) ?? [];
  return { name, port };
}

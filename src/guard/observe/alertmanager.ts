/** Where an Alertmanager is and how it knows us, as the setting `--alertmanager` says. */
export interface Alertmanager {
  readonly url: string;
  /** A file with a bearer token. */
  readonly token?: string;
  /** A file with the authorities that its certificate may be of, in place of the machine's. */
  readonly ca?: string;
  /** What its certificate is for, where the URL has an address. */
  readonly serverName?: string;
}

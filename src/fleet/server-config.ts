/** Files that identify a server to the others in its cluster, and their authority. */
export interface RouteTls {
  cert: string;
  key: string;
  ca: string;
}

/** The settings of a server's configuration file. */
export interface ServerSettings {
  name: string;
  host: string;
  port: number;
  storeDir: string;
  operator: string;
  system: string;
  /** The account of robots and people. */
  users: string;
  accounts: Record<string, string>;
  /** Other servers of a cluster. */
  cluster?: { name: string; host: string; port: number; routes: readonly string[]; tls?: RouteTls };
  /** Port for leaf nodes. */
  leafPort?: number;
  /** As a leaf node of another server, for the account of robots and people. */
  leafOf?: {
    url: string;
    credentials: string;
    /** Authority of the fleet's certificate, if the machine does not trust it. */
    ca?: string | undefined;
  };
  tls?: { cert: string; key: string };
}

/** The text of the file, for nats-server 2.9 or newer. */
export function serverConfig(settings: ServerSettings): string {
  const { name, host, port, storeDir, operator, system, users, accounts, cluster, leafPort, leafOf, tls } =
    settings;
  const parts = [
    `server_name: ${quoted(name)}`,
    `listen: ${quoted(`${host}:${port}`)}`,
    `jetstream { store_dir: ${quoted(storeDir)}, domain: ${quoted(leafOf ? name : 'fleet')} }`,
    `operator: ${quoted(operator)}`,
    `system_account: ${system}`,
    'resolver: MEMORY',
    preloadText(accounts),
    'max_payload: 1MB',
    // Credentials arrive as one line, which grows with every robot that they name.
    'max_control_line: 256KB',
    // An unplugged robot is noticed within about ten seconds.
    'ping_interval: "5s"',
    'ping_max: 2',
    // Whoever has credentials can fill the log with rejected messages.
    'logfile_size_limit: 64MB',
  ];
  if (tls) parts.push(tlsText(tls));
  if (cluster)
    parts.push(
      `cluster {\n  name: ${quoted(cluster.name)}\n  listen: ${quoted(`${cluster.host}:${cluster.port}`)}\n` +
        `  routes: [${cluster.routes.map(quoted).join(', ')}]\n${routeTls(cluster.tls)}}`,
    );
  if (leafPort !== undefined)
    parts.push(`leafnodes { listen: ${quoted(`${host}:${leafPort}`)}${tls ? `, ${tlsText(tls)}` : ''} }`);
  if (leafOf)
    parts.push(
      `leafnodes { remotes: [ { url: ${quoted(leafOf.url)}, credentials: ${quoted(leafOf.credentials)}, account: ${users}${leafTls(leafOf.ca)} } ] }`,
    );
  return `${parts.join('\n')}\n`;
}

const tlsText = ({ cert, key }: { cert: string; key: string }): string =>
  `tls { cert_file: ${quoted(cert)}, key_file: ${quoted(key)} }`;

const leafTls = (ca: string | undefined): string =>
  ca === undefined ? '' : `, tls { ca_file: ${quoted(ca)} }`;

/** Both ends of a route must present a certificate from that authority. */
const routeTls = (tls: RouteTls | undefined): string =>
  tls === undefined
    ? ''
    : `  tls {\n    cert_file: ${quoted(tls.cert)}\n    key_file: ${quoted(tls.key)}\n` +
      `    ca_file: ${quoted(tls.ca)}\n    verify: true\n    timeout: 3\n  }\n`;

/** The accounts that a server knows, as a block of its configuration. */
export function preloadText(accounts: Readonly<Record<string, string>>): string {
  const lines = Object.entries(accounts).map(([key, jwt]) => `  ${key}: ${quoted(jwt)}`);
  return `resolver_preload {\n${lines.join('\n')}\n}`;
}

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

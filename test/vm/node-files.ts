import { apiPort, apiUrl, kubeletToken } from "../e2e/node/api-server.ts";
import { pauseImage } from "../e2e/node/containerd.ts";
import { nodeName } from "../e2e/machine.ts";
import type { GuestFile } from "./image/base-files.ts";
import { payloadFolder } from "./image/initramfs.ts";
import { guestAddress, hostAddress } from "./machine/addresses.ts";

/** The first address of the API server's service range, which its certificate names. */
const serviceAddress = "10.0.0.1";
const podRange = "10.244.0.0/22";
/** The host's only card in the networks below: a VLAN and macvlans hang on it. Its name is that of the seeds' nodes. */
export const uplink = "enp86s0";
/** Two more cards: the port of a bridge that carries all VLANs, and the master of ipvlans, which share it with no macvlan. */
export const trunkLink = "enp87s0";
export const thirdLink = "enp88s0";
/** What is behind the cables: a namespace that stands for the site's switch, with an address in each network. */
export const siteNamespace = "site";

/** What the site has at the end of each cable, by its interface there. */
const siteAddresses = {
  "cable0": "10.211.0.254/24",
  "cable0.57": "10.57.0.254/24",
  "cable0.58": "10.213.0.254/24",
  "cable1.57": "10.158.0.254/24",
  "cable2": "10.214.0.254/24",
};

/** A node of a cluster as kubeadm leaves it: containerd and the kubelet below systemd, and the site's own links. */
export function nodeFiles(): readonly GuestFile[] {
  return [
    { path: "etc/containerd/config.toml", text: containerdConfig },
    { path: "etc/cni/net.d/10-primary.conflist", text: JSON.stringify(primary, undefined, 2) },
    { path: "etc/kubernetes/kubelet.yaml", text: JSON.stringify(kubeletSettings, undefined, 2) },
    { path: "etc/kubernetes/manifests/.keep", text: "" },
    { path: "usr/local/bin/levee", linkTo: `${payloadFolder}/bin/levee` },
    { path: "usr/local/bin/levee-shim", linkTo: `${payloadFolder}/bin/levee-shim` },
    { path: "usr/local/bin/node-facts", text: nodeFacts, mode: 0o755 },
    ...oneshot("site-links", "Before=containerd.service kubelet.service", siteLinks),
    ...oneshot("service-address", "After=systemd-networkd.service\nBefore=kubelet.service", serviceRules),
    ...oneshot("node-images", imagesOrder, [`sh -e ${payloadFolder}/import-images`, "touch /var/lib/node-images"]),
    ...unit("kubelet", kubeletUnit),
  ];
}

function unit(name: string, text: string): readonly GuestFile[] {
  const folder = "etc/systemd/system";
  return [
    { path: `${folder}/${name}.service`, text },
    { path: `${folder}/multi-user.target.wants/${name}.service`, linkTo: `../${name}.service` },
  ];
}

const containerdConfig = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "/etc/cni/net.d"
`;

const primary = {
  cniVersion: "1.0.0",
  name: "primary",
  plugins: [
    {
      ...{ type: "bridge", bridge: "cni0", isGateway: true, ipMasq: false, hairpinMode: true },
      ipam: { type: "host-local", ranges: [[{ subnet: podRange }]], routes: [{ dst: "0.0.0.0/0" }] },
    },
    { type: "portmap", capabilities: { portMappings: true } },
  ],
};

const kubeletSettings = {
  kind: "KubeletConfiguration",
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
  cgroupDriver: "systemd",
  // A scenario turns swap on.
  failSwapOn: false,
  resolvConf: "",
  maxPods: 110,
  staticPodPath: "/etc/kubernetes/manifests",
  nodeStatusUpdateFrequency: "5s",
  // An emulated node needs minutes for what another one does in seconds.
  runtimeRequestTimeout: "10m",
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
  imageMinimumGCAge: "24h",
  imageGCHighThresholdPercent: 100,
};

/** Read by the node authorizer as this node's own name. */
export function kubeletAccess(caText: string): string {
  const server = apiUrl.replace("127.0.0.1", hostAddress);
  return JSON.stringify({
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [
      {
        name: "vm",
        cluster: { server, "certificate-authority-data": Buffer.from(caText).toString("base64") },
      },
    ],
    "users": [{ name: "kubelet", user: { token: kubeletToken } }],
    "contexts": [{ name: "vm", context: { cluster: "vm", user: "kubelet" } }],
    "current-context": "vm",
  });
}

/** Made anew at each boot, as a node's own configuration does it: cables, VLAN 57 on one, and its bridge. */
const siteLinks = [
  "modprobe -a dummy 8021q macvlan ipvlan vrf bonding openvswitch",
  `ip netns add ${siteNamespace}`,
  ...[uplink, trunkLink, thirdLink].flatMap((link, index) => [
    `ip link add ${link} type veth peer name cable${index} netns ${siteNamespace}`,
    `ip link set ${link} up`,
    `ip -n ${siteNamespace} link set cable${index} up`,
  ]),
  `ip link add link ${uplink} name ${uplink}.57 type vlan id 57`,
  "ip link add br-prod type bridge",
  `ip link set ${uplink}.57 master br-prod`,
  `ip link set ${uplink}.57 up`,
  "ip link set br-prod up",
  "ip link add br-trunk type bridge",
  `ip link set ${trunkLink} master br-trunk`,
  "ip link set br-trunk up",
  ...Object.entries(siteAddresses).flatMap(([link, address]) => siteAddress(link, address)),
];

function siteAddress(link: string, address: string): readonly string[] {
  const [cable = "", vlan] = link.split(".");
  const ip = `ip -n ${siteNamespace}`;
  return [
    ...(vlan === undefined ? [] : [`${ip} link add link ${cable} name ${link} type vlan id ${vlan}`]),
    `${ip} addr add ${address} dev ${link}`,
    `${ip} link set ${link} up`,
  ];
}

/** What kube-proxy does for the API server's service address. */
const serviceRules = [
  ...["OUTPUT", "PREROUTING"].map(
    (chain) =>
      `iptables -t nat -A ${chain} -d ${serviceAddress}/32 -p tcp --dport 443 -j DNAT --to-destination ${hostAddress}:${apiPort}`,
  ),
  `iptables -t nat -A POSTROUTING -s ${podRange} ! -d ${podRange} -j MASQUERADE`,
];

/** No image can be pulled in the guest. */
const imagesOrder = "After=containerd.service\nBefore=kubelet.service\nConditionPathExists=!/var/lib/node-images";

const kubeletUnit = `[Unit]
After=containerd.service node-images.service
Wants=containerd.service
ConditionPathExists=/etc/kubernetes/kubelet.conf
[Service]
ExecStart=${payloadFolder}/bin/kubelet --config=/etc/kubernetes/kubelet.yaml --kubeconfig=/etc/kubernetes/kubelet.conf --hostname-override=${nodeName} --node-ip=${guestAddress} --cert-dir=/var/lib/kubelet/pki
Restart=always
RestartSec=2
[Install]
WantedBy=multi-user.target
`;

/** A service that runs a script once at each boot. */
function oneshot(name: string, order: string, commands: readonly string[]): readonly GuestFile[] {
  const script = `usr/local/sbin/${name}`;
  const start = `Type=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -e /${script}`;
  return [
    { path: script, text: `${commands.join("\n")}\n`, mode: 0o755 },
    ...unit(name, `[Unit]\n${order}\n[Service]\n${start}\n[Install]\nWantedBy=multi-user.target\n`),
  ];
}

/** Prints sandboxes with their interfaces, and the addresses that host-local holds, in lines that guest.ts reads. */
const nodeFacts = `#!/bin/sh
cd /run/containerd/io.containerd.runtime.v2.task/k8s.io 2>/dev/null && {
  jq -r 'select(.annotations["io.kubernetes.cri.container-type"] == "sandbox") | [input_filename, .annotations["io.kubernetes.cri.sandbox-namespace"], .annotations["io.kubernetes.cri.sandbox-name"], ([.linux.namespaces[] | select(.type == "network").path][0] // "host")] | join(" ")' */config.json 2>/dev/null |
  while read -r file namespace pod netns; do
    echo "sandbox \${file%%/*} $namespace $pod \${netns##*/}"
    [ "$netns" = host ] || ip -json -n "\${netns##*/}" -details addr show 2>/dev/null || echo '[]'
  done
}
for file in /var/lib/cni/networks/*/*; do
  case "$file" in */last_reserved_ip* | */lock | *'*') continue ;; esac
  id=
  read -r id < "$file" 2>/dev/null
  network=\${file%/*}
  echo "lease \${network##*/} \${file##*/} $id" | tr -d '\\r'
done
for veth in /sys/class/net/veth*; do [ -e "$veth" ] && echo "veth \${veth##*/}"; done
exit 0
`;

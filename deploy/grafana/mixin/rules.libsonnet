// Rendered by `npm run deploy:render` from deploy/alerts/alerts.source.yaml. Edit that file.
local text(value) = if std.isNumber(value) then '%g' % value else value;
function(values) [
  {
    "name": "levee.cni",
    "interval": "1m",
    "rules": [
      {
        "record": "instance:levee_sandbox_errors:rate5m",
        "expr": "sum by (cluster, instance) (rate(kubelet_runtime_operations_errors_total{operation_type=\"run_podsandbox\"}[5m]))\n"
      },
      {
        "record": "instance:levee_sandbox_errors:ratio5m",
        "expr": "instance:levee_sandbox_errors:rate5m\n/ on (cluster, instance)\nsum by (cluster, instance) (rate(kubelet_runtime_operations_total{operation_type=\"run_podsandbox\"}[5m]))\n"
      },
      {
        "alert": "MultusMemoryPressure",
        "expr": "(\n  max by (cluster, namespace, pod, container) (\n    max_over_time(container_memory_working_set_bytes{namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}[10m])\n  )\n  / on (cluster, namespace, pod, container)\n  max by (cluster, namespace, pod, container) (\n    kube_pod_container_resource_limits{resource=\"memory\", namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}\n  )\n  or on (cluster, namespace, pod, container)\n  max by (cluster, namespace, pod, container, instance) (\n    max_over_time(levee_memory_working_set_bytes[10m]) / last_over_time(levee_memory_limit_bytes[10m])\n  )\n) > " + text(values.thresholds.memoryPressure) + "\n",
        "for": "5m",
        "keep_firing_for": "15m",
        "labels": {
          "severity": "warning",
          "component": "cni",
          "product": "levee"
        },
        "annotations": {
          "summary": "The CNI daemon is close to its memory limit.",
          "description": "{{ $labels.pod }}{{ if not $labels.pod }}{{ $labels.instance }}{{ end }} uses {{ $value | humanizePercentage }} of its memory limit. If the kernel kills it, no pod starts on its node, and it restarts into a larger backlog.",
          "runbook_url": "" + text(values.runbooks) + "/MultusMemoryPressure.md"
        }
      },
      {
        "record": "container:levee_cni_oom_loop:increase1h",
        "expr": "sum by (cluster, namespace, pod, container) (\n  increase(kube_pod_container_status_restarts_total{namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}[1h])\n)\nand on (cluster, namespace, pod, container)\nmax by (cluster, namespace, pod, container) (\n  max_over_time(kube_pod_container_status_last_terminated_reason{reason=\"OOMKilled\", namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}[15m])\n) == 1\nand on (cluster, namespace, pod, container)\n(\n  sum by (cluster, namespace, pod, container) (\n    increase(kube_pod_container_status_restarts_total{namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}[15m])\n  ) >= 2\n  or\n  sum by (cluster, namespace, pod, container) (\n    increase(kube_pod_container_status_restarts_total{namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}[1h])\n  ) > 2.5\n  and on (cluster, namespace, pod, container)\n  max by (cluster, namespace, pod, container) (\n    max_over_time(kube_pod_container_status_last_terminated_reason{reason=\"OOMKilled\", namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}[5m] offset 30m)\n  ) == 1\n)\nand on (cluster, namespace, pod)\nkube_pod_container_status_restarts_total{namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}\n"
      },
      {
        "alert": "MultusOOMLoop",
        "expr": "container:levee_cni_oom_loop:increase1h\n* on (cluster, namespace, pod) group_left (node)\nmax by (cluster, namespace, pod, node) (max_over_time(kube_pod_info{node!=\"\", namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\"}[6h]))\nor on (cluster, namespace, pod, container)\ncontainer:levee_cni_oom_loop:increase1h\n",
        "keep_firing_for": "30m",
        "labels": {
          "severity": "critical",
          "component": "cni",
          "product": "levee",
          "scope": "node"
        },
        "annotations": {
          "summary": "The CNI daemon is killed for memory again and again.",
          "description": "{{ $labels.pod }} was restarted about {{ $value | printf \"%.0f\" }} times in one hour after being killed for memory. Each time it restarts into a larger backlog. Look for ownerless pods and for a namespace with a backlog before raising the limit.",
          "runbook_url": "" + text(values.runbooks) + "/MultusOOMLoop.md"
        }
      },
      {
        "alert": "MultusOOMLoop",
        "expr": "count by (cluster) (count by (cluster, namespace, pod) (container:levee_cni_oom_loop:increase1h))\n/ on (cluster)\ncount by (cluster) (\n  count by (cluster, namespace, pod) (\n    kube_pod_container_status_restarts_total{namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"}\n  )\n)\n>= 0.5\n",
        "keep_firing_for": "30m",
        "labels": {
          "severity": "critical",
          "component": "cni",
          "product": "levee",
          "scope": "cluster"
        },
        "annotations": {
          "summary": "The CNI daemons of the cluster are killed for memory again and again.",
          "description": "{{ $value | humanizePercentage }} of the CNI daemons were killed for memory and restarted, at least twice within 15 minutes or three times within an hour. Each time they restart into a larger backlog. Look for ownerless pods and for a namespace with a backlog before raising the limit.",
          "runbook_url": "" + text(values.runbooks) + "/MultusOOMLoop.md"
        }
      },
      {
        "alert": "CniAddErrorRate",
        "expr": "(\n  instance:levee_sandbox_errors:ratio5m\n  * on (cluster, instance) group_left (node) max by (cluster, instance, node) (kubelet_node_name)\n  or on (cluster, instance)\n  instance:levee_sandbox_errors:ratio5m\n) > " + text(values.thresholds.addErrorRatio) + "\nand on (cluster, instance)\ninstance:levee_sandbox_errors:rate5m > 0.05\n",
        "for": "5m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "critical",
          "component": "cni",
          "product": "levee",
          "source": "kubelet"
        },
        "annotations": {
          "summary": "Pod sandboxes cannot be made on a node.",
          "description": "{{ $value | humanizePercentage }} of the sandboxes that the kubelet on {{ $labels.node }}{{ if not $labels.node }}{{ $labels.instance }}{{ end }} asked for in five minutes failed. The FailedCreatePodSandBox events say why.",
          "runbook_url": "" + text(values.runbooks) + "/CniAddErrorRate.md"
        }
      },
      {
        "alert": "CniAddErrorRate",
        "expr": "sum by (cluster, node, instance) (rate(levee_calls_total{verb=\"ADD\", code!=\"ok\"}[5m]))\n/ on (cluster, node, instance)\nsum by (cluster, node, instance) (rate(levee_calls_total{verb=\"ADD\"}[5m]))\n> " + text(values.thresholds.addErrorRatio) + "\nand on (cluster, node, instance)\nsum by (cluster, node, instance) (rate(levee_calls_total{verb=\"ADD\", code!=\"ok\"}[5m])) > 0.05\n",
        "for": "5m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "critical",
          "component": "cni",
          "product": "levee",
          "source": "levee"
        },
        "annotations": {
          "summary": "Levee cannot give pods their networks on a node.",
          "description": "{{ $value | humanizePercentage }} of the ADDs of Levee on {{ $labels.node }}{{ if not $labels.node }}{{ $labels.instance }}{{ end }} failed in five minutes. levee_calls_total counts them by code, and `levee why POD` explains one of them.",
          "runbook_url": "" + text(values.runbooks) + "/CniAddErrorRate.md"
        }
      },
      {
        "alert": "StaleSandboxReservations",
        "expr": "max by (cluster, node) (levee_stale_sandbox_reservations) > 0\nor on (cluster, node)\nmax by (cluster, node) (levee_guard_stale_sandbox_reservations) > 0\n",
        "for": "10m",
        "keep_firing_for": "15m",
        "labels": {
          "severity": "warning",
          "component": "cni",
          "product": "levee"
        },
        "annotations": {
          "summary": "The runtime keeps names of sandboxes that are gone.",
          "description": "On {{ $labels.node }} {{ $value | printf \"%.0f\" }} sandbox name(s) are reserved for sandboxes that cannot be removed. The pods that need those names cannot start.",
          "runbook_url": "" + text(values.runbooks) + "/StaleSandboxReservations.md"
        }
      },
      {
        "alert": "LeveeLeaksGrowing",
        "expr": "max by (cluster, node, instance) (min_over_time(levee_leaks[30m]))\n> on (cluster, node, instance)\nmax by (cluster, node, instance) (max_over_time(levee_leaks[30m] offset 1h))\n",
        "for": "5m",
        "keep_firing_for": "2h",
        "labels": {
          "severity": "warning",
          "component": "cni",
          "product": "levee"
        },
        "annotations": {
          "summary": "The number of leaks on a node grows.",
          "description": "{{ $value | printf \"%.0f\" }} interface(s), address(es) or file(s) on {{ $labels.node }}{{ if not $labels.node }}{{ $labels.instance }}{{ end }} could not be removed. There were fewer an hour ago. `levee leaks` lists them.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeLeaksGrowing.md"
        }
      },
      {
        "alert": "NetworkAddressesLow",
        "expr": "(\n  max by (cluster, node, instance, network) (levee_network_addresses_left)\n  / on (cluster, node, instance, network)\n  max by (cluster, node, instance, network) (levee_network_addresses)\n  or\n  max by (cluster, network) (levee_guard_network_addresses_left)\n  / on (cluster, network)\n  max by (cluster, network) (levee_guard_network_addresses)\n)\n< " + text(values.thresholds.addressesLeft) + "\n",
        "for": "10m",
        "keep_firing_for": "15m",
        "labels": {
          "severity": "warning",
          "component": "cni",
          "product": "levee"
        },
        "annotations": {
          "summary": "A network has few addresses left.",
          "description": "The range of {{ $labels.network }}{{ if $labels.node }} on {{ $labels.node }}{{ else if $labels.instance }} on {{ $labels.instance }}{{ else }} in the cluster{{ end }} has {{ $value | humanizePercentage }} of its addresses left. Without any, pods with this network do not start there.",
          "runbook_url": "" + text(values.runbooks) + "/NetworkAddressesLow.md"
        }
      },
      {
        "alert": "NetworkAddressesLow",
        "expr": "(\n  max by (cluster, node, instance, network) (levee_network_addresses_left)\n  or\n  max by (cluster, network) (levee_guard_network_addresses_left)\n)\n== 0\n",
        "for": "5m",
        "keep_firing_for": "15m",
        "labels": {
          "severity": "critical",
          "component": "cni",
          "product": "levee"
        },
        "annotations": {
          "summary": "A network has no addresses left.",
          "description": "Every address of {{ $labels.network }}{{ if $labels.node }} on {{ $labels.node }}{{ else if $labels.instance }} on {{ $labels.instance }}{{ else }} in the cluster{{ end }} is taken. No further pod with this network starts there.",
          "runbook_url": "" + text(values.runbooks) + "/NetworkAddressesLow.md"
        }
      }
    ]
  },
  {
    "name": "levee.backlog",
    "interval": "1m",
    "rules": [
      {
        "record": "namespace:levee_stuck_pods:count",
        "expr": "count by (cluster, namespace) (\n  max by (cluster, namespace, pod) (kube_pod_status_phase{phase=\"Pending\"} == 1)\n  and on (cluster, namespace, pod) (time() - kube_pod_status_scheduled_time > 300)\n  unless on (cluster, namespace, pod) kube_pod_info{pod_ip!=\"\"}\n)\n"
      },
      {
        "record": "namespace:levee_ownerless_pods:count",
        "expr": "count by (cluster, namespace) (\n  max by (cluster, namespace, pod) (kube_pod_owner{owner_kind=~\"|<none>\", namespace!~\"" + text(values.ownerless.ignoredNamespaces) + "\"} == 1)\n  unless on (cluster, namespace, pod) (kube_pod_status_phase{phase=~\"Succeeded|Failed\"} == 1)\n)\n"
      },
      {
        "record": "namespace:levee_ownerless_pods:min30m",
        "expr": "min_over_time(namespace:levee_ownerless_pods:count[30m])"
      },
      {
        "record": "namespace:levee_ownerless_pods:max30m",
        "expr": "max_over_time(namespace:levee_ownerless_pods:count[30m])"
      },
      {
        "record": "namespace:levee_ownerless_pending_pods:count",
        "expr": "count by (cluster, namespace) (\n  max by (cluster, namespace, pod) (kube_pod_owner{owner_kind=~\"|<none>\", namespace!~\"" + text(values.ownerless.ignoredNamespaces) + "\"} == 1)\n  and on (cluster, namespace, pod) (kube_pod_status_phase{phase=\"Pending\"} == 1)\n  and on (cluster, namespace, pod) kube_pod_status_scheduled_time\n  unless on (cluster, namespace, pod) kube_pod_info{pod_ip!=\"\"}\n)\n"
      },
      {
        "alert": "NamespacePendingPodBacklog",
        "expr": "namespace:levee_stuck_pods:count >= " + text(values.thresholds.backlogWarning) + "",
        "for": "10m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "warning",
          "component": "backlog",
          "product": "levee"
        },
        "annotations": {
          "summary": "Many pods of a namespace have a node and do not start.",
          "description": "{{ $value | printf \"%.0f\" }} pods of {{ $labels.namespace }} have had a node for more than five minutes and are still Pending. The kubelets try again and again to give them their networks.",
          "runbook_url": "" + text(values.runbooks) + "/NamespacePendingPodBacklog.md"
        }
      },
      {
        "alert": "NamespacePendingPodBacklog",
        "expr": "namespace:levee_stuck_pods:count >= " + text(values.thresholds.backlogCritical) + " / 2\nand\nmax_over_time(namespace:levee_stuck_pods:count[10m]) >= " + text(values.thresholds.backlogCritical) + "\n",
        "for": "5m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "critical",
          "component": "backlog",
          "product": "levee"
        },
        "annotations": {
          "summary": "So many pods of a namespace do not start that the CNI daemons are in danger.",
          "description": "{{ $value | printf \"%.0f\" }} pods of {{ $labels.namespace }} have had a node for more than five minutes and are still Pending. A backlog of this size has taken CNI daemons down and kept them down.",
          "runbook_url": "" + text(values.runbooks) + "/NamespacePendingPodBacklog.md"
        }
      },
      {
        "alert": "OwnerlessPods",
        "expr": "namespace:levee_ownerless_pods:count >= " + text(values.thresholds.ownerlessPods) + "",
        "for": "15m",
        "keep_firing_for": "30m",
        "labels": {
          "severity": "warning",
          "component": "ownerless",
          "product": "levee"
        },
        "annotations": {
          "summary": "A namespace holds many pods without an owner.",
          "description": "{{ $value | printf \"%.0f\" }} unfinished pods of {{ $labels.namespace }} have no ownerReferences. No controller will ever delete them.",
          "runbook_url": "" + text(values.runbooks) + "/OwnerlessPods.md"
        }
      },
      {
        "alert": "OwnerlessPodsScattered",
        "expr": "max by (cluster, namespace) (levee_guard_scattered_pods) > 0",
        "for": "5m",
        "keep_firing_for": "15m",
        "labels": {
          "severity": "warning",
          "component": "ownerless",
          "product": "levee"
        },
        "annotations": {
          "summary": "Ownerless pods of many makes do not start, and the guard proposes nothing.",
          "description": "{{ $value | printf \"%.0f\" }} pods of {{ $labels.namespace }} have no owner and a node, and do not start. They differ too much to be one set, so the guard makes no Decision about them.",
          "runbook_url": "" + text(values.runbooks) + "/OwnerlessPodsScattered.md"
        }
      },
      {
        "alert": "OwnerlessPodsGrowing",
        "expr": "(\n  namespace:levee_ownerless_pending_pods:count >= 20\n  and\n  namespace:levee_ownerless_pending_pods:count - min_over_time(namespace:levee_ownerless_pending_pods:count[30m]) > 10\n)\nor\n(\n  namespace:levee_ownerless_pods:count >= 20\n  and\n  namespace:levee_ownerless_pods:min30m - min_over_time(namespace:levee_ownerless_pods:count[6h]) >= 20\n  and\n  namespace:levee_ownerless_pods:min30m > namespace:levee_ownerless_pods:max30m offset 1h\n  and\n  namespace:levee_ownerless_pods:min30m offset 1h > namespace:levee_ownerless_pods:max30m offset 2h\n)\n",
        "for": "5m",
        "keep_firing_for": "30m",
        "labels": {
          "severity": "warning",
          "component": "ownerless",
          "product": "levee"
        },
        "annotations": {
          "summary": "The number of pods without an owner grows.",
          "description": "{{ $value | printf \"%.0f\" }} unfinished pods of {{ $labels.namespace }} have no ownerReferences, and their number grows. A program creates pods and does not delete them.",
          "runbook_url": "" + text(values.runbooks) + "/OwnerlessPodsGrowing.md"
        }
      }
    ]
  },
  {
    "name": "levee.oom",
    "interval": "1m",
    "rules": [
      {
        "record": "container:levee_oom_events:increase1h",
        "expr": "sum by (cluster, namespace, pod, container) (increase(container_oom_events_total{container!=\"\", container!=\"POD\"}[1h]))\n"
      },
      {
        "record": "pod:levee_oom_kills:increase1h",
        "expr": "sum by (cluster, namespace, pod) (increase(levee_pod_oom_kills_total[1h]))\n"
      },
      {
        "record": "container:levee_oom_restarts:increase1h",
        "expr": "sum by (cluster, namespace, pod, container) (increase(kube_pod_container_status_restarts_total[1h])) > 0\nand on (cluster, namespace, pod, container)\nmax by (cluster, namespace, pod, container) (\n  max_over_time(kube_pod_container_status_last_terminated_reason{reason=\"OOMKilled\"}[1h])\n) == 1\n"
      },
      {
        "alert": "ContainerOOMKilledChildren",
        "expr": "container:levee_oom_events:increase1h > 0\nunless on (cluster, namespace, pod, container) container:levee_oom_restarts:increase1h\n",
        "for": "5m",
        "keep_firing_for": "1h",
        "labels": {
          "severity": "warning",
          "component": "oom",
          "product": "levee",
          "source": "cadvisor"
        },
        "annotations": {
          "summary": "Processes inside a container are killed for memory, and the container lives on.",
          "description": "In one hour the kernel killed about {{ $value | printf \"%.0f\" }} process(es) of {{ $labels.namespace }}/{{ $labels.pod }}, container {{ $labels.container }}, while its first process survived. The pod looks Running and shows no restart.",
          "runbook_url": "" + text(values.runbooks) + "/ContainerOOMKilledChildren.md"
        }
      },
      {
        "alert": "ContainerOOMKilledChildren",
        "expr": "pod:levee_oom_kills:increase1h > 0\nunless on (cluster, namespace, pod) container:levee_oom_restarts:increase1h\nunless on (cluster, namespace, pod) (container:levee_oom_events:increase1h > 0)\n",
        "for": "5m",
        "keep_firing_for": "1h",
        "labels": {
          "severity": "warning",
          "component": "oom",
          "product": "levee",
          "source": "levee"
        },
        "annotations": {
          "summary": "Processes inside a pod are killed for memory, and its containers live on.",
          "description": "In one hour the kernel killed about {{ $value | printf \"%.0f\" }} process(es) of {{ $labels.namespace }}/{{ $labels.pod }}, while the first process of its containers survived. The pod looks Running and shows no restart.",
          "runbook_url": "" + text(values.runbooks) + "/ContainerOOMKilledChildren.md"
        }
      }
    ]
  },
  {
    "name": "levee.reboot",
    "interval": "1m",
    "rules": [
      {
        "alert": "KuredRebootBacklog",
        "expr": "max by (cluster, node) (min_over_time(kured_reboot_required[1h])) == 1\nunless on (cluster, node) levee_node_reboot_required\n",
        "for": "23h",
        "keep_firing_for": "30m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "source": "kured"
        },
        "annotations": {
          "summary": "A node has been waiting for its reboot for a day.",
          "description": "Node {{ $labels.node }} has needed a reboot for a day, and kured does not reboot it. An alert, a pod, the window, the lock or the drain blocks the reboot.",
          "runbook_url": "" + text(values.runbooks) + "/KuredRebootBacklog.md"
        }
      },
      {
        "alert": "KuredRebootBacklog",
        "expr": "time() - max by (cluster, node) (levee_node_reboot_required_since_timestamp_seconds) > 86400\nand on (cluster, node)\nmax by (cluster, node) (levee_node_reboot_required) == 1\nunless on (cluster, node) levee_gate_reasons\n",
        "for": "10m",
        "keep_firing_for": "30m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "source": "node"
        },
        "annotations": {
          "summary": "A node has been waiting for its reboot for a day.",
          "description": "Node {{ $labels.node }} has needed a reboot for {{ $value | humanizeDuration }}.",
          "runbook_url": "" + text(values.runbooks) + "/KuredRebootBacklog.md"
        }
      },
      {
        "alert": "KuredRebootBacklog",
        "expr": "max by (cluster, node, reason) (levee_gate_reasons)\nand on (cluster, node) max by (cluster, node) (levee_gate_reboot_due_seconds) > 86400\n",
        "for": "10m",
        "keep_firing_for": "30m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "source": "gate"
        },
        "annotations": {
          "summary": "The reboot gate has kept a node from its reboot for a day.",
          "description": "Node {{ $labels.node }} has needed a reboot for more than a day. The reboot gate holds it for {{ $labels.reason }} ({{ $value | printf \"%.0f\" }}): levee gate why {{ $labels.node }} says how to clear it.",
          "runbook_url": "" + text(values.runbooks) + "/KuredRebootBacklog.md"
        }
      },
      {
        "alert": "LeveeGateStale",
        "expr": "max by (cluster) (levee_gate_last_look_age_seconds) > 120",
        "for": "5m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "scope": "cluster"
        },
        "annotations": {
          "summary": "The reboot gate no longer looks.",
          "description": "The guard leads and has not looked at the reboot gates for {{ $value | humanizeDuration }}. Every gate has expired, and no node is rebooted.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeGateStale.md"
        }
      },
      {
        "alert": "LeveeGateStale",
        "expr": "max by (cluster, node) (levee_gate_age_seconds) > 600",
        "for": "5m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "scope": "node"
        },
        "annotations": {
          "summary": "The verdict about a node is no longer renewed.",
          "description": "The reboot gate of {{ $labels.node }} was last written {{ $value | humanizeDuration }} ago. It has expired, and the node is not rebooted.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeGateStale.md"
        }
      },
      {
        "alert": "LeveeGateMismatch",
        "expr": "max by (cluster, node) (levee_node_reboot_required) == 1\nand on (cluster) max by (cluster) (levee_gate_last_look_age_seconds)\nunless on (cluster, node) levee_gate_verdict\n",
        "for": "15m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "mismatch": "mark-without-gate"
        },
        "annotations": {
          "summary": "A node has its mark, and the guard made no gate for it.",
          "description": "Node {{ $labels.node }} needs a reboot and has no RebootGate. The guard may not reach its daemon.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeGateMismatch.md"
        }
      },
      {
        "alert": "LeveeGateMismatch",
        "expr": "max by (cluster, node) (levee_gate_verdict)\nand on (cluster, node) max by (cluster, node) (levee_node_reboot_required) == 0\nunless on (cluster, node) levee_gate_override\n",
        "for": "15m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "mismatch": "gate-without-mark"
        },
        "annotations": {
          "summary": "A node has a gate and no mark.",
          "description": "Node {{ $labels.node }} has a RebootGate, and its daemon says that it needs no reboot.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeGateMismatch.md"
        }
      },
      {
        "alert": "LeveeGateMismatch",
        "expr": "max by (cluster, node) (kured_reboot_required) == 0\nand on (cluster, node) max by (cluster, node) (levee_gate_verdict{verdict=\"Allow\"}) == 1\nand on (cluster, node) max by (cluster, node) (levee_node_reboot_required) == 1\n",
        "for": "15m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "mismatch": "kured-does-not-see"
        },
        "annotations": {
          "summary": "kured does not see that a node needs a reboot.",
          "description": "Node {{ $labels.node }} needs a reboot and the gate allows it, but kured says that none is required. It may look at another file.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeGateMismatch.md"
        }
      },
      {
        "alert": "LeveeGateMismatch",
        "expr": "max by (cluster, node) (kured_reboot_required) == 1\nand on (cluster, node) max by (cluster, node) (levee_node_reboot_required) == 0\n",
        "for": "15m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee",
          "mismatch": "kured-sees-more"
        },
        "annotations": {
          "summary": "kured wants to reboot a node that has no mark.",
          "description": "kured says that node {{ $labels.node }} needs a reboot, and the node has neither mark. kured looks at something else.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeGateMismatch.md"
        }
      },
      {
        "alert": "KuredLockOfAbsentNode",
        "expr": "max by (cluster, daemonset) (levee_gate_kured_lock{orphaned=\"true\"}) == 1",
        "for": "15m",
        "keep_firing_for": "5m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee"
        },
        "annotations": {
          "summary": "kured's lock belongs to no node.",
          "description": "The lock on {{ $labels.daemonset }} is held by something that is no node of this cluster. kured reboots nothing until it is taken away.",
          "runbook_url": "" + text(values.runbooks) + "/KuredLockOfAbsentNode.md"
        }
      },
      {
        "alert": "NodeLeftCordoned",
        "expr": "max by (cluster, node) (levee_gate_stranded_node) == 1",
        "for": "30m",
        "keep_firing_for": "5m",
        "labels": {
          "severity": "warning",
          "component": "reboot",
          "product": "levee"
        },
        "annotations": {
          "summary": "A node is Ready and cordoned, and nobody holds kured's lock.",
          "description": "Node {{ $labels.node }} takes no pods. A reboot was left half done, or somebody forgot it. It holds the reboots of all other nodes.",
          "runbook_url": "" + text(values.runbooks) + "/NodeLeftCordoned.md"
        }
      }
    ]
  },
  {
    "name": "levee.argocd",
    "interval": "1m",
    "rules": [
      {
        "alert": "ArgoCDAppsUnknown",
        "expr": "count by (cluster) (max by (cluster, namespace, name) (argocd_app_info{sync_status=\"Unknown\"} == 1))\nand\ncount by (cluster) (max by (cluster, namespace, name) (argocd_app_info{sync_status=\"Unknown\"} == 1))\n/ on (cluster)\ncount by (cluster) (max by (cluster, namespace, name) (argocd_app_info == 1))\n> 0.5\n",
        "for": "10m",
        "keep_firing_for": "10m",
        "labels": {
          "severity": "warning",
          "component": "argocd",
          "product": "levee"
        },
        "annotations": {
          "summary": "Most Argo CD applications are in an unknown state.",
          "description": "{{ $value | printf \"%.0f\" }} application(s) are Unknown, more than half of all. Argo CD cannot read git or the cluster. It reverts no changes now. It will when it can read again.",
          "runbook_url": "" + text(values.runbooks) + "/ArgoCDAppsUnknown.md"
        }
      }
    ]
  },
  {
    "name": "levee.guard",
    "interval": "1m",
    "rules": [
      {
        "record": "cluster:levee_pods_told:count",
        "expr": "count by (cluster) (kube_pod_info)"
      },
      {
        "record": "cluster:levee_cni_gauges:count",
        "expr": "count by (cluster) (container_memory_working_set_bytes{namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"})\n"
      },
      {
        "record": "cluster:levee_guard_leaders:sum",
        "expr": "sum by (cluster) (levee_guard_leader)"
      },
      {
        "alert": "LeveeBlind",
        "expr": "(\n  max_over_time(cluster:levee_pods_told:count[6h])\n  or on (cluster)\n  count by (cluster) (kubelet_node_name)\n)\nunless on (cluster) cluster:levee_pods_told:count\nor\nabsent(kube_pod_info)\nand on (cluster) absent_over_time(cluster:levee_pods_told:count[6h])\nand on (cluster) absent(kubelet_node_name)\n",
        "for": "5m",
        "labels": {
          "severity": "critical",
          "component": "meta",
          "product": "levee",
          "source": "kube-state-metrics"
        },
        "annotations": {
          "summary": "Prometheus has no data about pods, so most of these alerts are blind.",
          "description": "kube-state-metrics is not scraped. Backlogs, ownerless pods and restarts cannot be seen. A CNI outage can be the reason, because kube-state-metrics needs the pod network.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeBlind.md"
        }
      },
      {
        "alert": "LeveeBlind",
        "expr": "max_over_time(cluster:levee_cni_gauges:count[3d]) unless on (cluster) cluster:levee_cni_gauges:count\nor\nabsent(container_memory_working_set_bytes{namespace=~\"" + text(values.cni.namespace) + "\", pod=~\"" + text(values.cni.pod) + "\", container=~\"" + text(values.cni.container) + "\"})\nand on (cluster) absent_over_time(cluster:levee_cni_gauges:count[3d])\n",
        "for": "15m",
        "labels": {
          "severity": "warning",
          "component": "meta",
          "product": "levee",
          "source": "cadvisor"
        },
        "annotations": {
          "summary": "Prometheus does not know how much memory the CNI daemons use.",
          "description": "cAdvisor has no container with the names in the values of the alerts, so MultusMemoryPressure is blind. Either cAdvisor is not scraped, or namespace, pod and container have other names here.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeBlind.md"
        }
      },
      {
        "alert": "LeveeBlind",
        "expr": "count by (cluster) (kube_pod_info{exported_pod!=\"\"} or kube_pod_info{exported_namespace!=\"\"})\nunless on (cluster) kube_pod_info{exported_pod=\"\", exported_namespace=\"\"}\n",
        "for": "5m",
        "labels": {
          "severity": "critical",
          "component": "meta",
          "product": "levee",
          "source": "honor-labels"
        },
        "annotations": {
          "summary": "kube-state-metrics is scraped without honor_labels, so the alerts on pods are blind.",
          "description": "The {{ $value | printf \"%.0f\" }} pods that kube-state-metrics reports carry its own namespace and pod as labels. MultusOOMLoop, MultusMemoryPressure, backlogs and ownerless pods cannot be seen. Set honor_labels: true (honorLabels in a ServiceMonitor) for kube-state-metrics.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeBlind.md"
        }
      },
      {
        "alert": "LeveeBlind",
        "expr": "(\n  max by (cluster, resource) (\n    levee_guard_view_last_event_age_seconds and on (cluster, instance) (levee_guard_leader == 1)\n  )\n  or\n  min by (cluster, resource) (levee_guard_view_last_event_age_seconds)\n) > 180\n",
        "for": "2m",
        "labels": {
          "severity": "critical",
          "component": "meta",
          "product": "levee",
          "source": "guard"
        },
        "annotations": {
          "summary": "The guard's view of the cluster is old.",
          "description": "The guard has received nothing about {{ $labels.resource }} for {{ $value | humanizeDuration }}. Until it does, it proposes nothing and carries out nothing.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeBlind.md"
        }
      },
      {
        "alert": "LeveeBlind",
        "expr": "sum by (cluster) (increase(levee_guard_proposals_refused_total[15m])) >= 3",
        "labels": {
          "severity": "critical",
          "component": "meta",
          "product": "levee",
          "source": "proposals"
        },
        "annotations": {
          "summary": "The guard has found a cause and cannot create its Decision.",
          "description": "The API server refused about {{ $value | printf \"%.0f\" }} proposals of the guard in 15 minutes. The guard's log says why. Until the API server accepts the proposal, no person can approve it.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeBlind.md"
        }
      },
      {
        "alert": "LeveeBlind",
        "expr": "max by (cluster, node, instance) (levee_api_up) == 0\nor\nmax by (cluster, node, instance) (levee_view_last_event_age_seconds) > 900\n",
        "for": "10m",
        "labels": {
          "severity": "warning",
          "component": "meta",
          "product": "levee",
          "source": "daemon"
        },
        "annotations": {
          "summary": "A node's daemon receives nothing from the API server.",
          "description": "The daemon on {{ $labels.node }}{{ if not $labels.node }}{{ $labels.instance }}{{ end }} does not reach the API server, or has received nothing about pods or networks for 15 minutes. Pods with networks that it does not know yet must wait.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeBlind.md"
        }
      },
      {
        "alert": "LeveeDecisionWaiting",
        "expr": "max by (cluster) (levee_guard_oldest_decision_age_seconds{phase=\"Proposed\"}) > 300",
        "keep_firing_for": "5m",
        "labels": {
          "severity": "warning",
          "component": "guard",
          "product": "levee"
        },
        "annotations": {
          "summary": "The guard has found a cause and waits for a person.",
          "description": "A Decision has waited {{ $value | humanizeDuration }} for approval. `kubectl get decisions` shows it. The guard does nothing until a person approves it.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeDecisionWaiting.md"
        }
      },
      {
        "alert": "LeveeDecisionPaused",
        "expr": "max by (cluster) (levee_guard_oldest_decision_age_seconds{phase=\"Paused\"}) > 300",
        "keep_firing_for": "5m",
        "labels": {
          "severity": "warning",
          "component": "guard",
          "product": "levee"
        },
        "annotations": {
          "summary": "A Decision has stopped half way.",
          "description": "A Decision has been paused for {{ $value | humanizeDuration }}. Its status names the step and the reason; the cluster may be half repaired.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeDecisionPaused.md"
        }
      },
      {
        "alert": "LeveeDecisionsKept",
        "expr": "sum by (cluster) (\n  max by (cluster, phase) (levee_guard_decisions{phase=~\"Succeeded|Failed|Expired|Rejected|Superseded\"})\n) >= 150\n",
        "for": "15m",
        "labels": {
          "severity": "warning",
          "component": "guard",
          "product": "levee"
        },
        "annotations": {
          "summary": "Ended Decisions are piling up.",
          "description": "{{ $value | printf \"%.0f\" }} ended Decisions still exist. From 200 on the guard proposes only for the largest avalanche.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeDecisionsKept.md"
        }
      },
      {
        "alert": "LeveeGuardAbsent",
        "expr": "(\n  max by (cluster) (kube_deployment_spec_replicas{namespace=~\"" + text(values.guard.namespace) + "\", deployment=~\"" + text(values.guard.deployment) + "\"}) > 0\n  or\n  max_over_time(cluster:levee_guard_leaders:sum[1h]) > 0\n)\nunless on (cluster) (cluster:levee_guard_leaders:sum > 0)\nunless on (cluster) (\n  time() - max by (cluster) (kube_lease_renew_time{namespace=~\"|" + text(values.guard.namespace) + "\", lease=~\"" + text(values.guard.lease) + "\"}) < 120\n)\n",
        "for": "5m",
        "keep_firing_for": "5m",
        "labels": {
          "severity": "critical",
          "component": "guard",
          "product": "levee"
        },
        "annotations": {
          "summary": "The guard is installed, and none of its replicas leads.",
          "description": "No guard looks for causes, and a running Decision does not continue. The alerts of Prometheus still work.",
          "runbook_url": "" + text(values.runbooks) + "/LeveeGuardAbsent.md"
        }
      }
    ]
  }
]

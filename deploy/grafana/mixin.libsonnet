// Levee's alerts and boards for a monitoring that is built with jsonnet (docs/grafana.md). The files it imports are rendered.
{
  // Below one name, because all mixins share _config. The values are those of the chart under `alerts`.
  _config+:: { levee: import 'mixin/config.json' },

  grafanaDashboards+:: {
    'levee-cluster.json': import 'dashboards/levee-cluster.json',
    'levee-node.json': import 'dashboards/levee-node.json',
    'levee-pod.json': import 'dashboards/levee-pod.json',
  },

  // With the recording rules, which stand before their alerts in the same group: Prometheus evaluates groups independently.
  prometheusAlerts+:: { groups+: (import 'mixin/rules.libsonnet')($._config.levee) },
  prometheusRules+:: { groups+: [] },
}

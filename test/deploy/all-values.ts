/** Values of the Helm chart: with `scaled` in chart.slow.test.ts, every one of them. */

export const token = { secret: "agents", key: "secret" };
export const digest = `sha256:${"a1".repeat(32)}`;
export const ca = { name: "ca", configMap: { name: "private-ca" } };
export const caMount = { name: "ca", mountPath: "/etc/private-ca", readOnly: true };

export const all = {
  token,
  replicas: 2,
  config: { mcpServers: { jira: { url: "https://mcp.example.com" } } },
  servers: {
    wiki: {
      image: "example.com/wiki:1",
      port: 8080,
      path: "/rpc",
      replicas: 2,
      command: ["wiki"],
      args: ["--x"],
      env: [{ name: "A", value: "b" }],
      envFrom: [{ secretRef: { name: "wiki" } }],
      volumes: [{ name: "pages", persistentVolumeClaim: { claimName: "pages" } }],
      volumeMounts: [{ name: "pages", mountPath: "/pages" }],
      resources: { limits: { memory: "1Gi" } },
      podSecurityContext: { runAsNonRoot: true, runAsUser: 5, seccompProfile: { type: "RuntimeDefault" } },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    },
  },
  database: { secret: "postgres", key: "address", port: 6432 },
  autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 4, cpuPercent: 50, metrics: [] },
  image: {
    repository: "example.com/claudikins",
    tag: "1.2.3",
    digest,
    pullPolicy: "Always",
    pullSecrets: [{ name: "registry" }],
  },
  env: [{ name: "NODE_EXTRA_CA_CERTS", value: "/etc/private-ca/ca.pem" }],
  envFrom: [{ secretRef: { name: "more" } }],
  extraArgs: ["--max-sessions", "500"],
  extraVolumes: [ca],
  extraVolumeMounts: [caMount],
  initContainers: [{ name: "wait", image: "example.com/wait:1", command: ["sleep", "1"] }],
  allowHosts: ["claudikins.internal"],
  lameDuckSeconds: 7,
  graceSeconds: 120,
  persistence: {
    enabled: true,
    size: "20Gi",
    accessMode: "ReadWriteMany",
    storageClass: "fast",
    existingClaim: "",
  },
  resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "3Gi" } },
  service: { type: "NodePort", port: 8080, annotations: { a: "b" }, ipFamilyPolicy: "PreferDualStack" },
  ingress: { enabled: true, className: "nginx", host: "mcp.example.com", tlsSecret: "tls", annotations: { a: "b" } },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { team: "ai" } } }],
    ingressController: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "traefik" } } }],
    prometheus: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "observe" } } }],
    egress: [{ ports: [{ port: 443, protocol: "TCP" }] }],
  },
  metrics: {
    enabled: true,
    serviceMonitor: { enabled: true, interval: "15s", labels: { release: "prometheus" } },
    alerts: { enabled: true, labels: { release: "rules" } },
  },
  auditCut: { enabled: true, schedule: "5 4 * * 0", keep: "90d", database: { secret: "audit", key: "owner" } },
  podDisruptionBudget: { enabled: true },
  serviceAccount: { annotations: { a: "b" } },
  podSecurityContext: {
    runAsNonRoot: true,
    runAsUser: 7,
    runAsGroup: null,
    fsGroup: 8,
    fsGroupChangePolicy: "Always",
    seccompProfile: { type: "RuntimeDefault" },
  },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: false,
    capabilities: { drop: ["ALL"] },
  },
  podAnnotations: { a: "b" },
  podLabels: { tier: "tools" },
  nodeSelector: { disk: "ssd" },
  tolerations: [{ key: "tools", operator: "Exists" }],
  topologySpreadConstraints: [
    { maxSkew: 2, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" },
  ],
  affinity: { nodeAffinity: {} },
  priorityClassName: "high",
};

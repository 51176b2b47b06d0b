/** Secrets of 40 and more kinds, none of them real. They are put together here, so that no scanner takes them for real ones. */

const alphabet = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAcD2fG4hJ6kL8nP1qR3sT5uV7wX9yZbC1dF3gH5jK7";
const hex = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9";
const keyLine = `${alphabet.slice(0, 60)}+/7Q`;

/** Letters and digits. */
function chance(length: number): string {
  return alphabet.repeat(3).slice(0, length);
}

/** A text with a secret, and the secret part, which no output may contain. */
export interface SecretKind {
  readonly text: string;
  readonly secret: string;
}

function toKind(before: string, secret: string, after = ""): SecretKind {
  return { text: before + secret + after, secret };
}

/** By name. */
export const secretKinds: Readonly<Record<string, SecretKind>> = {
  anthropic: toKind("sk-ant-api03-", `${chance(80)}-${chance(10)}AA`),
  openai: toKind("sk-proj-", `${chance(40)}_T3BlbkFJ-${chance(30)}`),
  openaiOld: toKind("sk-", chance(48)),
  openaiService: toKind("sk-svcacct-", chance(60)),
  openrouter: toKind("sk-or-v1-", hex),
  awsId: toKind("AKIA", "QYLPMN5HHHFPZAM2"),
  awsSession: toKind("ASIA", "QYLPMN5HHHFPZAM2"),
  awsSecret: toKind("aws_secret_access_key = ", "wJalr7UtnFEMI/K7MDENG/bPxRfiCYzK2l9Qm4Xa"),
  google: toKind("AIza", `SyB${chance(32)}`),
  googleAccess: toKind("ya29.", `a0AfH6SM${chance(40)}-_${chance(8)}`),
  googleClient: toKind("GOCSPX-", chance(28)),
  github: toKind("ghp_", chance(36)),
  githubApp: toKind("ghs_", chance(36)),
  githubFine: toKind("github_pat_", `${chance(22)}_${chance(59)}`),
  gitlab: toKind("glpat-", `${chance(9)}_${chance(10)}`),
  slackBot: toKind("xoxb-", `2381048192-2381048193-${chance(24)}`),
  slackApp: toKind("xapp-", `1-A0B1C2D3E-2381048192-${hex}`),
  slackHook: toKind("https://hooks.slack.com/services/", `T0A1B2C3D/B0A1B2C3D/${chance(24)}`),
  stripe: toKind("sk_live_", chance(24)),
  stripeRestricted: toKind("rk_live_", chance(24)),
  stripeHook: toKind("whsec_", chance(32)),
  npm: toKind("npm_", chance(36)),
  pypi: toKind("pypi-", `AgEIcHlwaS5vcmc${chance(60)}`),
  huggingFace: toKind("hf_", chance(34)),
  groq: toKind("gsk_", chance(52)),
  xai: toKind("xai-", chance(80)),
  perplexity: toKind("pplx-", chance(48)),
  nvidia: toKind("nvapi-", chance(64)),
  sendgrid: toKind("SG.", `${chance(22)}.${chance(43)}`),
  twilio: toKind("SK", hex.slice(0, 32)),
  mailgun: toKind("key-", hex.slice(0, 32)),
  digitalOcean: toKind("dop_v1_", hex),
  shopify: toKind("shpat_", hex.slice(0, 32)),
  databricks: toKind("dapi", hex.slice(0, 32)),
  linear: toKind("lin_api_", chance(40)),
  notion: toKind("ntn_", chance(46)),
  figma: toKind("figd_", `${chance(20)}-${chance(20)}`),
  grafana: toKind("glsa_", `${chance(32)}_${hex.slice(0, 8)}`),
  vault: toKind("hvs.", `CAESI${chance(80)}`),
  docker: toKind("dckr_pat_", `${chance(20)}-${chance(6)}`),
  postman: toKind("PMAK-", `${hex.slice(0, 24)}-${hex.slice(0, 34)}`),
  newRelic: toKind("NRAK-", "K3J9X7Q2M5P8T1W4Z6B0C2D5F7G"),
  sentry: toKind("sntrys_", `eyJ${chance(60)}`),
  rubyGems: toKind("rubygems_", hex.slice(0, 48)),
  age: toKind("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"),
  atlassian: toKind("ATATT3", `xFfGF0${chance(60)}=${hex.slice(0, 8).toUpperCase()}`),
  telegram: toKind("123456789:AA", `${chance(20)}-_${chance(11)}`),
  azure: toKind("AccountKey=", `${chance(40)}+/${chance(44)}==`),
  jwt: toKind("eyJ", `hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${chance(43)}`),
  bearer: toKind("Authorization: Bearer ", `${chance(20)}.${chance(12)}~x`),
  basic: toKind("Authorization: Basic ", "dXNlcjpodW50ZXIyMzQ1Ng=="),
  address: toKind("postgres://app:", "hunter2pw", "@db:5432/x"),
  environmentPassword: toKind("DB_PASSWORD=", "battery-staple"),
  environmentSecret: toKind("export SESSION_SECRET='", "tr0ub4dor", "'"),
  yamlPassword: toKind('password: "', "Tr0ub4dor83xz", '"'),
  jsonKey: toKind('{"api_key": "', chance(24), '"}'),
  privateKey: toKind(
    "-----BEGIN RSA PRIVATE KEY-----\n",
    `${keyLine}\n${keyLine}\n${keyLine}\nq9Zx==`,
    "\n-----END RSA PRIVATE KEY-----",
  ),
  encryptedKey: toKind(
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n",
    `${keyLine}\n${keyLine}`,
    "\n-----END RSA PRIVATE KEY-----",
  ),
  escapedKey: toKind('"-----BEGIN PRIVATE KEY-----\\n', `${keyLine}\\n${keyLine}\\n`, '-----END PRIVATE KEY-----"'),
};

/** Five characters in a row of the secret that the text has; "": it has none. */
export function findLeak(text: string, secret: string): string {
  for (const line of secret.split(/\\n|\n/)) {
    for (let at = 0; at + 5 <= line.length; at += 1) {
      if (text.includes(line.slice(at, at + 5))) return line.slice(at, at + 5);
    }
  }
  return "";
}

/** Files and folders of the user that no command may see (S-34). */
import { readdirSync, readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { type Environment, toConfigFolder, toDataFolder, tryFinding } from "@sheaf/base/paths";

/** Secret places below the home folder. */
const homePlaces = [
  // keys and sessions of shells, mail and version control
  ".ssh", ".gnupg", ".password-store", ".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".config/gh",
  ".config/hub", ".config/glab-cli", ".authinfo", ".authinfo.gpg", ".local/share/keyrings", ".local/share/kwalletd", ".kwallet",
  ".pki", ".config/op", ".1password", ".config/Bitwarden CLI", ".config/rbw", ".config/keepassxc", ".config/age", ".config/sops",
  ".tsh", ".step", ".acme.sh", ".doppler", ".infisical",
  // clouds and clusters
  ".aws", ".azure", ".config/gcloud", ".kube", ".oci", ".config/doctl", ".config/hcloud", ".config/fly", ".fly", ".config/rclone",
  ".s3cfg", ".boto", ".terraform.d/credentials.tfrc.json", ".vault-token", ".config/heroku", ".config/netlify", ".vercel",
  ".docker/config.json", ".config/containers/auth.json", ".config/helm/registry", ".minikube", ".config/argocd",
  ".pulumi/credentials.json", ".databrickscfg", ".databricks", ".config/ngrok", ".ngrok2", ".cloudflared", ".wrangler",
  ".config/.wrangler", ".supabase", ".railway", ".config/configstore", ".config/scw", ".config/linode-cli", ".config/openstack",
  ".config/stripe", ".twilio-cli", ".sentryclirc", ".kaggle", ".huggingface",
  // registries of packages
  ".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
  ".m2/settings-security.xml", ".gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".config/pip/pip.conf", ".composer/auth.json",
  ".pip/pip.conf", ".config/pnpm/rc", ".config/pnpm/auth.ini", ".config/pypoetry/auth.toml", ".config/composer/auth.json",
  ".local/share/uv/credentials", ".sbt/.credentials", ".ivy2/.credentials",
  // databases
  ".pgpass", ".my.cnf", ".mylogin.cnf", ".config/mongodb", ".snowflake", ".config/snowflake", ".snowsql", ".dbt",
  ".config/planetscale", ".config/turso", ".config/neonctl", ".confluent",
  // editors, which keep the tokens of their extensions
  ".config/Code", ".config/Code - Insiders", ".config/VSCodium", ".config/Cursor", ".config/JetBrains", ".vscode-server/data",
  ".vscode-server-insiders/data", ".cursor-server/data", "Library/Application Support/Code",
  "Library/Application Support/Cursor", "Library/Application Support/JetBrains",
  // browsers, mail and chat
  ".mozilla", ".librewolf", ".thunderbird", ".config/google-chrome", ".config/google-chrome-beta", ".config/chromium",
  ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera", "snap/firefox", "snap/chromium",
  ".var/app", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Keychains",
  "Library/Cookies", "Library/Safari", "Library/Mail", "Library/Messages", ".config/Slack", ".config/discord", ".config/Signal",
  ".local/share/TelegramDesktop",
  // other agents
  ".claude", ".claude.json", ".codex", ".cursor", ".gemini", ".config/anthropic", ".config/openai", ".config/github-copilot",
  ".copilot", ".qwen", ".kiro", ".codeium", ".factory", ".continue", ".config/amp", ".local/share/amp", ".local/share/opencode",
  ".local/share/crush", ".config/goose",
  // typed commands and queries
  ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".lesshst",
  ".sqlite_history", ".rediscli_history", ".mongodb", ".irb_history", ".viminfo", ".local/share/fish/fish_history",
  ".config/fish/fish_variables", ".config/nushell/history.txt", ".local/share/atuin", ".local/share/powershell/PSReadLine",
] as const; // prettier-ignore

/** Secret places of the machine. Even without the sandbox, only root could read most of them. */
const machinePlaces = [
  "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private",
  "/etc/krb5.keytab", "/etc/wireguard", "/etc/NetworkManager/system-connections", "/run/secrets", "/run/user",
  "/var/spool/cron", "/var/mail",
] as const; // prettier-ignore

/** Variables that point to another place than the usual one; `:` separates several places. */
const placeNames = [
  "GNUPGHOME", "KUBECONFIG", "DOCKER_CONFIG", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "NETRC", "PGPASSFILE", "XDG_RUNTIME_DIR",
] as const; // prettier-ignore

/** Lists secret places, absolute, existing or not. `owner`: number of a further user whose files commands can read. */
export function listSecretPlaces(environment: Environment, owner?: number): string[] {
  const homes = [...new Set([...listHomes(environment), ...(owner === undefined ? [] : listHomesOf(owner))])];
  return [
    ...homes.flatMap((folder) => homePlaces.map((place) => join(folder, place))),
    // A run with another SHEAF_HOME must not see the usual folders either.
    ...[environment, { ...environment, SHEAF_HOME: "" }].flatMap((variables) =>
      [toDataFolder, toConfigFolder].map((toFolder) => tryFinding(() => toFolder(variables))).filter(Boolean),
    ),
    ...placeNames.flatMap((name) => (environment[name] ?? "").split(":")).filter((path) => path.startsWith("/")),
    ...machinePlaces,
    ...listHostKeys(),
  ];
}

/**
 * Lists the user's home folders. `HOME` may point to another folder than the account's, and an account may lack a home.
 */
export function listHomes(environment: Environment): string[] {
  const homes = [tryFinding(homedir), environment.HOME ?? "", tryFinding(() => userInfo().homedir)];
  return [...new Set(homes.filter((folder) => folder.startsWith("/") && folder !== "/"))];
}

function listHomesOf(user: number): string[] {
  try {
    const entries = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":"));
    return entries
      .filter(([, , id]) => id === String(user))
      .flatMap(([, , , , , home = ""]) => (home.startsWith("/") && home !== "/" ? [home] : []));
  } catch {
    return [];
  }
}

function listHostKeys(): string[] {
  try {
    return readdirSync("/etc/ssh")
      .filter((name) => /^ssh_host_.*_key$/.test(name))
      .map((name) => join("/etc/ssh", name));
  } catch {
    return [];
  }
}

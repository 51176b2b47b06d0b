/** `sheaf --help`. */
import { sheafVersion } from "../../version.ts";
import { flags, type Flag } from "../flags.ts";

const head = `sheaf ${sheafVersion}: a coding agent whose answer is a sheaf of typed documents

Usage
  sheaf -p [flags] PROMPT…         answer one prompt and exit
  COMMAND | sheaf -p [flags]       take the prompt, or context for it, from stdin
  sheaf answer SESSION Q=OPTION…   answer what the agent asked (exit code 10), and go on
  sheaf show SESSION [flags]       print a stored session again, in any format
  sheaf replay FILE [flags]        print a run of --record again, offline, in any format
  sheaf convert --from F --to F    make documents out of a model's stream on stdin
  sheaf schema NAME                print a JSON Schema: stream-json, documents or events
  sheaf models [PROVIDER]          list the names that --model takes
  sheaf login PROVIDER             keep a key, typed hidden or piped to stdin; sheaf logout [PROVIDER] forgets it
  sheaf status                     show the model in use and where the keys are (also: whoami)

Flags
`;

const tail = `
Stdin beside a prompt is context. A pipe that sends nothing within 200 ms is not waited for; "-" as a word waits for it.

Models
  anthropic/ID, openai/ID, openai-chat/ID, google/ID, openrouter/ID: key from the environment, --api-key or sheaf login
  ollama/ID, lmstudio/ID, llamacpp/ID, vllm/ID, openai-compatible/ID with --base-url; offline; scripted:FILE

Exit codes
  0 success   1 internal   2 usage   3 credentials   4 refused by the provider   5 provider away   6 unusable answer
  7 budget   8 permission needed   9 storage   10 the agent asks   129, 130, 143 signals

Examples
  sheaf -p --model offline "Read README.md and create a summary in summary.txt"
  git diff | sheaf -p --model offline --output-format text "summarise this"
  sheaf -p --model scripted:run.json --output-format documents "go"
`;

/** The help text. */
export function formatHelp(): string {
  const rows = (Object.entries(flags) as [string, Flag][]).map(([name, flag]) => {
    const spelling = [...(flag.aliases ?? []), `--${name}`].join(", ");
    return [flag.placeholder ? `${spelling} ${flag.placeholder}` : spelling, flag.help] as const;
  });
  const width = Math.max(...rows.map(([spelling]) => spelling.length));
  const lines = rows.map(([spelling, help]) => `  ${spelling.padEnd(width)}  ${help}\n`);
  return head + lines.join("") + tail;
}

/** read_skill: the instructions of a skill, or another file of its folder (C90). */
import { join } from "node:path";
import * as s from "@sheaf/protocol/schema";
import type { Skill } from "../config/skills.ts";
import { toFailure } from "./failure.ts";
import { skillTraits } from "./other-tools.ts";
import { toCallable, type CallableTool } from "./registry.ts";

const parameters = s.object({
  name: s.string({ description: "Name of the skill" }),
  file: s.optional(s.string({ description: "Another file of the skill, by its path in SKILL.md" })),
});

/**
 * Creates the tool of a run that has skills. It reads only the files that `findSkills` found. It reads even a skill
 * that the model does not see, since a person may have sent its name.
 */
export function createSkillTool(found: readonly Skill[]): CallableTool {
  const skills = found.filter(({ kind }) => kind === "skill");
  const offered = skills.filter(({ isOffered }) => isOffered).map(({ name }) => name);
  return toCallable<s.ValueOf<typeof parameters>>({
    ...skillTraits,
    description: "Read the instructions of a skill, or another file of its folder.",
    parameters,
    async run({ name, file }, { workspace }) {
      const skill = skills.find((each) => each.name === name);
      if (!skill) {
        return toFailure(
          "FILE_NOT_FOUND",
          `there is no skill ${JSON.stringify(name.slice(0, 80))}: use one of ${offered.join(", ")}`,
        );
      }
      const named = join(skill.folder, file ?? "SKILL.md");
      const place = workspace.resolve(named);
      if (workspace.leftOut?.has(place.ok ? place.path.relative : named)) {
        return toFailure("PERMISSION_DENIED", `a rule denies ${named}: leave this file, and tell the user`);
      }
      if (file === undefined || file === "SKILL.md") {
        return { status: "success", output: toInstructions(skill), effect: { kind: "skill", name } };
      }
      const text = readText(skill.read(file));
      const advice = skill.list().slice(0, 50).join(", ") || "it has no other files";
      return text === undefined
        ? toFailure(
            "FILE_NOT_FOUND",
            `${JSON.stringify(file.slice(0, 200))} is not a text file of the skill ${name}: ${advice}`,
          )
        : { status: "success", output: text, effect: { kind: "skill", name, file } };
    },
  });
}

/** Returns the text that a model needs to follow a skill. */
export function toInstructions(skill: Skill): string {
  const files = skill.list();
  const named = files.length === 0 ? "" : `\n\nFiles of this skill, for read_skill: ${files.slice(0, 50).join(", ")}`;
  return `Folder: ${skill.folder}\n\n${skill.body}${named}`;
}

function readText(bytes: Buffer | undefined): string | undefined {
  return bytes === undefined || bytes.includes(0) ? undefined : bytes.toString();
}

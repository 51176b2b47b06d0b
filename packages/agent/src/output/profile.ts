/** Whose habits the output has (C30). `sheaf`: sections 1 and 2; `cursor-2026`: those of `cursor-agent`. */
export const profiles = ["sheaf", "cursor-2026"] as const;

export type Profile = (typeof profiles)[number];

export function isProfile(value: string): value is Profile {
  return (profiles as readonly string[]).includes(value);
}

import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { findWriter, forgetWriter, setWriter } from "../../src/session/writer.ts";

test(verifies("S-222", "a writer is known by the token, which is not kept"), async () => {
  const values = new Map<string, string>();
  const storage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  } as unknown as Storage;
  const signIn = async (token: string): Promise<string> => {
    await setWriter(storage, token);
    return findWriter(storage);
  };
  const ann = await signIn("token-of-ann");
  expect(ann).toMatch(/^[0-9a-f]{8}$/);
  expect(await signIn("token-of-bob")).not.toBe(ann);
  expect(await signIn("token-of-ann")).toBe(ann);
  forgetWriter(storage);
  expect(findWriter(storage)).toBe("");
});

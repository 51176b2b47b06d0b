/** Root declares a throw-away container only where something shows one, or by a word of its own (S-254). */
import { describe, expect, test } from "vitest";
import { adviseOnContainer, chooseSandbox } from "../src/find/choose-sandbox.ts";
import { verifies } from "../../../test/support/verifies.ts";

const choose = (userId: number | undefined, files: Readonly<Record<string, string>> = {}) =>
  chooseSandbox("container", { userId, read: (path) => files[path] });

const disk = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
const inner = "30 27 0:9 / /var/lib/docker/overlay2/f/merged rw - overlay overlay rw\n";

describe("--sandbox container", () => {
  test.each([
    { "/.dockerenv": "" },
    { "/run/.containerenv": "engine=podman\n" },
    { "/proc/self/mountinfo": "1 0 0:61 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/a\n" },
    { "/proc/self/mountinfo": "1 0 0:61 / / rw - fuse.fuse-overlayfs fuse-overlayfs rw\n" },
  ])(verifies("S-254", "as root is taken where the machine shows a container: %j"), (files) => {
    expect(choose(0, files)).toBe("container");
  });

  test.each([{}, { "/proc/self/mountinfo": disk + inner }])(
    verifies("S-254", "as root elsewhere is a usage error that names the other word: %j"),
    (files) => {
      expect(() => choose(0, files)).toThrow(/shows no sign of one \(.*overlay.*pass --sandbox container=root/);
    },
  );

  test(
    verifies("S-31", "is the way out that a machine without a sandbox names, with the word that works there"),
    () => {
      const advise = (userId: number, files: Readonly<Record<string, string>> = {}) =>
        adviseOnContainer({ userId, read: (path) => files[path] });
      expect(advise(1000)).toContain("--sandbox container if");
      expect(advise(0, { "/.dockerenv": "" })).toContain("--sandbox container if");
      expect(advise(0)).toContain("--sandbox container=root if");
    },
  );

  test(verifies("S-254", "needs no sign for other users, and the other word needs none for root"), () => {
    expect([choose(1000), choose(undefined)]).toEqual(["container", "container"]);
    const nowhere = { userId: 0, read: () => undefined };
    const choices = ["container=root", "enabled", "disabled"] as const;
    expect(choices.map((choice) => chooseSandbox(choice, nowhere))).toEqual(["container", "enabled", "disabled"]);
  });
});
